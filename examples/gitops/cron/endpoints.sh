#!/bin/sh
# endpoints.sh up      deploys the newest commit of the branch that is checked out, where it is not deployed yet
# endpoints.sh drift   looks whether somebody changed endpoints behind the program's back
#
# Settings come from the environment (README.md). What a run found is in the folder $STATE: `up.status` and `drift.status`
# in one line, `up.txt`, `drift.txt` and `drift.html` in full. Exit codes of drift: 0 none, 7 drift; 75 of both: another run is
# under way. Any other: it failed, and says nothing about drift.
set -eu
umask 077

what=${1:-}
case $what in
  up | drift) ;;
  *) echo "usage: endpoints.sh up|drift" >&2 && exit 64 ;;
esac
: "${PROJECT:?the folder of the program, in a clone}" "${STATE:?a folder for what runs leave}"
: "${ENDPOINTS_API_KEY:?the key, from a file that only this user can read}" "${STACK:=prod}"
mkdir -p "$STATE"
cd "$PROJECT"

# One run at a time. The kernel frees the lock when the last process that has it is gone, however it ends: this script, and
# the Pulumi that it started, should that outlive it.
exec 9>"$STATE/lock"
if ! flock --nonblock 9; then
  echo "endpoints.sh $what: another run is under way" >&2
  exit 75
fi

# A reader never meets half a file.
publish() {
  mv -f "$STATE/$1.new" "$STATE/$1"
}

# One line: the outcome, and when.
status() {
  printf '%s %s\n' "$1" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$STATE/$what.status.new"
  publish "$what.status"
}

up() {
  # Git may leave a process behind to tidy up, which must not hold the lock.
  if ! git pull --quiet --ff-only 9>&-; then
    status "failed (git pull)"
    return 1
  fi
  commit=$(git rev-parse HEAD)
  if [ -f "$STATE/deployed" ] && [ "$(cat "$STATE/deployed")" = "$commit" ]; then
    # A failure before this run is over, and a status that grows old says that no run comes.
    status "deployed $commit"
    return 0
  fi
  code=0
  {
    npm ci && pulumi up --stack "$STACK" --yes --suppress-progress --non-interactive --color never
  } >"$STATE/up.txt.new" 2>&1 || code=$?
  publish up.txt
  if [ "$code" -ne 0 ]; then
    status "failed ($code) $commit"
    return "$code"
  fi
  # Only now: what failed or was killed is tried again by the next run.
  printf '%s\n' "$commit" >"$STATE/deployed.new"
  publish deployed
  status "deployed $commit"
}

drift() {
  rm -f "$STATE/drift.html.new"
  code=0
  npx --no-install pulumi-endpoints drift --stack "$STACK" --html "$STATE/drift.html.new" >"$STATE/drift.txt.new" 2>&1 || code=$?
  publish drift.txt
  if [ -f "$STATE/drift.html.new" ]; then publish drift.html; fi
  case $code in
    0) status none ;;
    7) status drift ;;
    *) status "could not see ($code)" ;;
  esac
  return "$code"
}

"$what"
