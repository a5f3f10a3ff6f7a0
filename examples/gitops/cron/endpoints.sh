#!/bin/sh
# endpoints.sh up      deploys the newest commit of the checked-out branch, unless it is already deployed
# endpoints.sh drift   checks for drift
#
# Settings come from the environment (README.md). Results are in the folder $STATE: `up.status` and `drift.status` have one
# line, `up.txt`, `drift.txt` and `drift.html` the details. Exit codes: 75 if another run is in progress; drift exits with 0 for
# none, 7 for drift, and 8 if the last `up` failed or was killed, or the program is not deployed. Any other code is a failure.
set -eu
# The group can read the results. Other users cannot.
umask 027

what=${1:-}
case $what in
  up | drift) ;;
  *) echo "usage: endpoints.sh up|drift" >&2 && exit 64 ;;
esac
: "${PROJECT:?the folder of the program, in a clone}" "${STATE:?a folder for results}"
: "${ENDPOINTS_API_KEY:?the key, from a file that only this user can read}" "${STACK:=prod}"
mkdir -p "$STATE"
cd "$PROJECT"

# One run at a time. The kernel releases the lock when the last process that holds it ends, so Pulumi keeps it even if this
# script was killed.
exec 9>"$STATE/lock"
if ! flock --nonblock 9; then
  echo "endpoints.sh $what: another run is in progress" >&2
  exit 75
fi

# Replaces a file at once, so readers never get a partial one.
publish() {
  mv -f "$STATE/$1.new" "$STATE/$1"
}

# One line: the outcome and the time.
status() {
  printf '%s %s\n' "$1" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >"$STATE/$what.status.new"
  publish "$what.status"
}

up() {
  # Git may leave a background process, which must not hold the lock.
  if ! git pull --quiet --ff-only 9>&-; then
    status "failed (git pull)"
    return 1
  fi
  commit=$(git rev-parse HEAD)
  # A pull succeeds if the branch was reset to an older commit, and keeps the newer one.
  if [ "$commit" != "$(git rev-parse '@{upstream}')" ]; then
    echo "The clone has commits that its upstream branch does not have. To leave them: \`git reset --keep '@{upstream}'\`" \
      >"$STATE/up.txt.new"
    publish up.txt
    status "failed (not the upstream commit) $commit"
    return 1
  fi
  if [ -f "$STATE/deployed" ] && [ "$(cat "$STATE/deployed")" = "$commit" ]; then
    # This run writes its status too: it replaces an earlier failure, and its time shows that cron works.
    status "deployed $commit"
    return 0
  fi
  code=0
  {
    npm ci && pulumi install && pulumi up --stack "$STACK" --yes --suppress-progress --non-interactive --color never
  } >"$STATE/up.txt.new" 2>&1 || code=$?
  publish up.txt
  if [ "$code" -ne 0 ]; then
    status "failed ($code) $commit"
    return "$code"
  fi
  # Only after success, so the next run repeats a failed or killed deployment.
  printf '%s\n' "$commit" >"$STATE/deployed.new"
  publish deployed
  status "deployed $commit"
}

drift() {
  rm -f "$STATE/drift.html.new"
  code=0
  set -- --stack "$STACK"
  if [ "${FAIL_ON_UNMANAGED:-false}" = true ]; then set -- "$@" --fail-on-unmanaged; fi
  npx --no-install pulumi-endpoints drift "$@" --html "$STATE/drift.html.new" >"$STATE/drift.txt.new" 2>&1 || code=$?
  # The state may differ from the program: after a failed repair, or before the next `up`. So a preview compares the two.
  if [ "$code" -eq 0 ]; then
    pulumi preview --stack "$STACK" --expect-no-changes --suppress-progress --non-interactive --color never \
      >"$STATE/preview.txt.new" 2>&1 || code=8
    publish preview.txt
  fi
  publish drift.txt
  if [ -f "$STATE/drift.html.new" ]; then publish drift.html; fi
  case $code in
    0) status none ;;
    7) status drift ;;
    8) status undeployed ;;
    *) status "check failed ($code)" ;;
  esac
  return "$code"
}

"$what"
