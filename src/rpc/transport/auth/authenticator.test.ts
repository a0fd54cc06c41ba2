import assert from "node:assert/strict";
import { test } from "node:test";
import { AttemptLimit } from "./attempt-limit.ts";
import { type Authenticate, carriesCredential, createAuthenticator, type TokenKeys } from "./authenticator.ts";
import { opens } from "./credential.ts";
import { signJwt } from "./jwt.ts";

const secret = Buffer.alloc(32, 7);

function setup() {
  const clock = { seconds: 1_700_000_000, ms: 0 };
  const revoked = new Set<string | undefined>();
  const secrets: Uint8Array[] = [secret];
  const keys: TokenKeys = {
    // Copies, as those that are read from a file again.
    secrets: () => secrets.map((each) => each.slice()),
    isRevoked: ({ id, subject }) => revoked.has(id) || revoked.has(subject),
  };
  const { authenticate } = createAuthenticator(
    { keys, badTokensMax: 3, pauseMsMax: 4000 },
    { nowSeconds: () => clock.seconds, timers: { now: () => clock.ms } },
  );
  return { clock, revoked, secrets, authenticate, good: signJwt({ iat: clock.seconds }, secret) };
}

const present = (authenticate: Authenticate, authorization?: string, source = "a", url = "/") =>
  authenticate({ authorization, url, source });

test("a request without a credential is nobody's, one with a good token is known", () => {
  const { authenticate, good } = setup();
  assert.deepEqual(present(authenticate), { kind: "none" });
  for (const scheme of ["Bearer", "bearer", "BEARER "]) {
    assert.equal(present(authenticate, `${scheme} ${good}`).kind, "valid");
  }
});

test("a bad token is refused, not passed over; another scheme is nobody's, as a proxy's password is", () => {
  for (const header of ["Bearer", "Bearer ", "bearer x", "Bearer a.b.c", "Bearer a b"]) {
    assert.equal(present(setup().authenticate, header).kind, "invalid", header);
  }
  for (const header of ["", "Basic YTpi", "BearerX a", "Digest x"]) {
    assert.equal(present(setup().authenticate, header).kind, "none", header);
  }
});

test("a token opens the namespaces it names, until its exp", () => {
  const { authenticate, clock } = setup();
  const token = signJwt({ exp: clock.seconds + 10, namespaces: ["miner"] }, secret);
  const outcome = present(authenticate, `Bearer ${token}`);
  assert.ok(outcome.kind === "valid");
  assert.deepEqual([...outcome.credential.namespaces!], ["miner"]);
  assert.equal(outcome.credential.isExpired(), false);
  clock.seconds += 10;
  assert.equal(outcome.credential.isExpired(), true);
});

test("a token opens the methods it names, in the namespaces it names", () => {
  const { authenticate, clock } = setup();
  const token = signJwt(
    { iat: clock.seconds, namespaces: ["miner", "txpool"], methods: ["miner_set*", "eth_call"] },
    secret,
  );
  const outcome = present(authenticate, `Bearer ${token}`);
  assert.ok(outcome.kind === "valid");
  const isOpen = (method: string) => opens(outcome.credential, method.split("_")[0]!, method);
  assert.equal(isOpen("miner_setGasPrice"), true);
  assert.equal(isOpen("miner_start"), false);
  assert.equal(isOpen("txpool_status"), false);
  assert.equal(isOpen("eth_call"), false);
});

test("a revoked token is bad, and one in use opens nothing from then on", () => {
  const { authenticate, clock, revoked } = setup();
  const token = signJwt({ iat: clock.seconds, jti: "a1", sub: "team" }, secret);
  const outcome = present(authenticate, `Bearer ${token}`);
  assert.ok(outcome.kind === "valid");
  assert.equal(outcome.credential.isExpired(), false);
  revoked.add("team");
  assert.equal(outcome.credential.isExpired(), true);
  assert.equal(present(authenticate, `Bearer ${token}`).kind, "invalid");
});

test("a token is good as long as its secret is, also one in use", () => {
  const { authenticate, secrets, good } = setup();
  const newer = Buffer.alloc(32, 8);
  const outcome = present(authenticate, `Bearer ${good}`);
  assert.ok(outcome.kind === "valid");
  secrets.unshift(newer);
  assert.equal(outcome.credential.isExpired(), false);
  assert.equal(present(authenticate, `Bearer ${good}`).kind, "valid");
  secrets.pop();
  assert.equal(outcome.credential.isExpired(), true);
  assert.equal(present(authenticate, `Bearer ${good}`, "b").kind, "invalid");
  secrets.length = 0;
  assert.equal(outcome.credential.isExpired(), true);
});

test("a token in the URL is refused even when it is good", () => {
  const { authenticate, good } = setup();
  assert.equal(present(authenticate, undefined, "a", `/?token=${good}`).kind, "invalid");
  assert.equal(present(authenticate, `Bearer ${good}`, "a", `/?x=${good}`).kind, "invalid");
});

test("carriesCredential finds tokens by name and by look", () => {
  const { good } = setup();
  for (const url of [
    "/?token=x",
    "/?a=1&ACCESS_TOKEN=x",
    "/?jwt=",
    "/?authorization=Bearer%20x",
    `/?q=${good}`,
    `/${good}`,
  ]) {
    assert.equal(carriesCredential(url), true, url);
  }
  for (const url of [undefined, "/", "/?", "/?chain=1", "/?tokens=3", "/eyJ", "*"]) {
    assert.equal(carriesCredential(url), false, url);
  }
});

test("an address that sends bad tokens is told to wait, twice as long each time; good tokens pass meanwhile, from there too", () => {
  const { authenticate, clock, good } = setup();
  for (let i = 0; i < 3; i++) assert.equal(present(authenticate, "Bearer x").kind, "invalid");
  assert.deepEqual(present(authenticate, "Bearer x"), { kind: "throttled", retryAfterS: 1 });
  assert.equal(present(authenticate, `Bearer ${good}`).kind, "valid");
  assert.deepEqual(present(authenticate, "Bearer x"), { kind: "throttled", retryAfterS: 1 });
  assert.equal(present(authenticate, undefined).kind, "none");
  assert.equal(present(authenticate, `Bearer ${good}`, "b").kind, "valid");
  for (const pauseS of [2, 4, 4]) {
    clock.ms += 4000;
    assert.equal(present(authenticate, "Bearer x").kind, "invalid");
    const outcome = present(authenticate, "Bearer x");
    assert.deepEqual(outcome, { kind: "throttled", retryAfterS: pauseS });
  }
  clock.ms += 4000;
  assert.equal(present(authenticate, `Bearer ${good}`).kind, "valid");
});

test("AttemptLimit forgives after a window without failures and keeps a bounded number of sources", () => {
  let now = 0;
  const options = { failuresMax: 2, windowMs: 100, pauseMs: 10, pauseMsMax: 10 };
  const limit = new AttemptLimit(options, { now: () => now });
  limit.failed("a");
  now = 100;
  limit.failed("a");
  assert.equal(limit.waitMs("a"), 0);
  limit.failed("a");
  assert.equal(limit.waitMs("a"), 10);
  for (let i = 0; i < 20_000; i++) limit.failed(`source ${i}`);
  assert.equal(limit.size, 10_000);
  assert.equal(limit.waitMs("a"), 0);
});
