import { at, coded, markedFor, refused, type Scene, scene, withMarks } from "./scene";

/* Creates and moves whose URL is taken. */

const shop = { url: at("shop") };
const theirs = { theirs: shop };
/** The reply to a create whose URL is taken. */
const conflict = coded(400, 18017);

const CAUSES =
  /created at [^ ,]+\. If you renamed or moved this resource, give it aliases.*\. If another resource of this stack.*--target.*--replace.*deleteBeforeReplace.*\. If it is somebody else's, choose another url; if a killed run left it behind, set adopt: "ep_/;

export const takenUrls: Scene[] = [
  scene("a create on a stranger's URL fails after some seconds, with its endpoint and the three causes", {
    others: theirs,
    fails: CAUSES,
    seconds: 10,
    stacks: true,
  }),
  ...(["18009", "422", "400-bare", "409-bare"] as const).map((urlTaken) =>
    scene(`a taken URL is found after a refusal of the form ${urlTaken}`, {
      service: { urlTaken },
      others: theirs,
      fails: /is served by ep_/,
    }),
  ),
  scene("a create on the URL of an edge fails at once", {
    others: { theirs: { type: "edge", public_url: shop.url } },
    replies: [["create", conflict, 9]],
    fails: /^(?!.*set adopt).*of type edge.*another url, or stop the agent/,
    seconds: 1,
  }),
  // Trap 5.
  ...["a", undefined].map((old) =>
    withMarks(`${old ? "a move" : "a create"} that meets a stranger's mark fails at once, with the owner`, {
      others: { theirs: { ...shop, ...markedFor("prod") } },
      ...(old && { from: { o: old }, state: { o: old } }),
      program: { o: "shop" },
      fails: /created for 'front' of the stack shop\/prod \(team\/prod\)/,
      seconds: 1,
    }),
  ),
  withMarks("a message has one short line of another's mark, without control characters", {
    others: {
      theirs: { ...shop, ...markedFor(`x\n\u001b[2J\u202e##vso[task.complete]${"y".repeat(3_000)}`) },
    },
    fails: /^(?!.*##vso)[^\p{Cc}\p{Cf}]{1,1500}$/u,
  }),
  scene("a move does not wait for the endpoint of a resource without a change, which keeps the URL", {
    from: { o: "shop", m: "a" },
    program: { o: "shop", m: "shop" },
    order: ["o", "m"],
    on: "dynamic",
    fails: /belongs to another resource of this stack, which keeps this URL[^.]*\.$/,
    seconds: 2,
    state: { o: "shop", m: "a" },
  }),
  scene("a filtered list that shows only a member of a pool hides no other endpoint on the URL", {
    settings: { listFilter: "on" },
    service: { filters: "incomplete" },
    others: { member: { ...shop, pooling_enabled: true, created_at: "2020-01-01T00:00:00Z" }, ...theirs },
    program: { o: { ...shop, poolingEnabled: true } },
    replies: [["create", conflict, 9]],
    fails: /^(?!.*2020).*is served by ep_\w+, a cloud endpoint/,
  }),
  ...[18006, 18016, 18017].map((code) =>
    scene(`a URL that is refused with ${code} for some seconds, and that nobody has, is created`, {
      replies: [["create", coded(400, code), 3]],
      writes: ["POST shop"],
      seconds: 10,
    }),
  ),
  scene("a create whose refusal may pass fails with it after four tries", {
    replies: [["create", conflict, 4]],
    fails: /ERR_NGROK_18017/,
  }),
  scene("a create that is answered with 404 names the base URL, and reads no list", {
    replies: [["create", { status: 404, body: "" }]],
    reads: [],
    fails: /^(?!.*\bid\b).*POST \/endpoints: status 404.*endpoints:baseUrl .*path prefix/,
  }),
  scene("a refusal for another reason fails with it, and is not repeated", {
    replies: [["create", coded(400, 2201)]],
    fails: /ERR_NGROK_2201/,
  }),
  ...[refused, { status: 200, body: { endpoints: [], next_page_uri: null } }].map((list) =>
    scene(`a refusal without a code has a next step if the list shows nothing: ${JSON.stringify(list)}`, {
      others: theirs,
      replies: [
        ["create", { status: 409, body: "" }, 9],
        ["list", list, 99],
      ],
      fails: /status 409.*[Rr]un the command again.*choose another url/,
    }),
  ),
  scene("the endpoint that a killed run left is named, and its adoption ends it", {
    leftBy: { o: "shop" },
    fails: /is served by ep_.*set adopt/,
    next: [{ program: { o: { ...shop, adopt: "@shop" } } }],
    state: { o: "shop" },
  }),
];
