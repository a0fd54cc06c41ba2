import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ManualTimers } from "../../test/support/base/telemetry/manual-timers.ts";
import { fakeContext } from "../../test/support/cli/fake-context.ts";
import { tokensPath } from "../node/config/home.ts";
import { createJwtSecret, readJwtSecret } from "../node/config/secrets.ts";
import { TokenFiles } from "../node/config/token-file.ts";
import { type JwtClaims, verifyJwt } from "../rpc/transport/auth/jwt.ts";
import { runCli } from "./program.ts";

const home = mkdtempSync(join(tmpdir(), "evmint-token-"));
createJwtSecret(home);
after(() => rmSync(home, { recursive: true }));

async function token(...args: readonly string[]) {
  const { context, output } = fakeContext();
  const code = await runCli(["token", "--home", home, ...args], context);
  return { code, ...output, now: context.now() / 1000 };
}

/** What is printed beside a token. */
const idOf = (text: string) => /^id ([0-9a-f]{16}); /.exec(text)?.[1];

test("evmintd token prints a token that the secret of the home vouches for", async () => {
  const { code, stdout, stderr, now } = await token("--expires", "2h", "--namespaces", "personal, miner");
  assert.equal(code, 0);
  assert.deepEqual(verifyJwt(stdout.trim(), [readJwtSecret(home)], now + 7199), {
    claims: { iat: now, exp: now + 7200, jti: idOf(stderr), namespaces: ["personal", "miner"] },
  });
  assert.deepEqual(verifyJwt(stdout.trim(), [readJwtSecret(home)], now + 7200), { fault: "time" });
});

test("evmintd token may be good for a year", async () => {
  const { code, stdout, stderr, now } = await token("--expires", "8760h");
  assert.equal(code, 0);
  const { claims } = verifyJwt(stdout.trim(), [readJwtSecret(home)], now) as { claims: unknown };
  assert.deepEqual(claims, { iat: now, exp: now + 365 * 86_400, jti: idOf(stderr) });
});

test("evmintd token is good for a day and for everything by default", async () => {
  const { stdout, stderr, now } = await token();
  assert.deepEqual(verifyJwt(stdout.trim(), [readJwtSecret(home)], now), {
    claims: { iat: now, exp: now + 86_400, jti: idOf(stderr) },
  });
});

test("evmintd token refuses other spans and names: exit code 2", async () => {
  for (const args of [
    ["--expires", "24"],
    ["--expires", "0"],
    ["--expires", "9000h"],
    ["--namespaces", "personal,*"],
    ["--namespaces", ""],
    ["--namespaces", "personal,foo"],
    ["--methods", "eth_call;txpool_status"],
    ["revoke", "team"],
    ["rotate", "--grace", "9000h"],
  ]) {
    assert.equal((await token(...args)).code, 2, args.join(" "));
  }
});

test("evmintd token narrows to methods and names a subject", async () => {
  const { stdout, now } = await token("--methods", "eth_*, txpool_status", "--subject", "team");
  const { claims } = verifyJwt(stdout.trim(), [readJwtSecret(home)], now) as { claims: JwtClaims };
  assert.deepEqual(claims.methods, ["eth_*", "txpool_status"]);
  assert.equal(claims.sub, "team");
});

test("evmintd token revoke ends tokens by id or subject, and rotate the secret, after a grace", async () => {
  const { now } = await token();
  const clock = { seconds: now };
  const keys = new TokenFiles(home, {
    nowSeconds: () => clock.seconds,
    timers: new ManualTimers({ msPerLook: 2_000 }),
    onFault: () => assert.fail(),
  });
  const id = "00112233aabbccdd";
  assert.equal(keys.isRevoked({ id, subject: "team" }), false);
  assert.equal((await token("revoke", id)).code, 0);
  assert.equal((await token("revoke", "--subject", "team")).code, 0);
  assert.equal(keys.isRevoked({ id, subject: undefined }), true);
  assert.equal(keys.isRevoked({ id: undefined, subject: "team" }), true);
  assert.equal(keys.isRevoked({ id: "team", subject: id }), false);

  assert.equal((await token("--subject", "team")).code, 2);
  assert.equal((await token("--subject", "team2")).code, 0);

  const [old] = keys.secrets();
  assert.equal((await token("rotate", "--grace", "1h")).code, 0);
  assert.deepEqual(keys.secrets(), [readJwtSecret(home), old]);
  assert.notDeepEqual(readJwtSecret(home), old);
  clock.seconds += 3_601;
  assert.equal(keys.secrets().length, 1);
  assert.equal((await token("rotate", "--grace", "0s")).code, 0);
  clock.seconds -= 3_601;
  assert.equal(keys.secrets().length, 1);
  assert.equal(keys.isRevoked({ id, subject: undefined }), true);
});

test("while its files are damaged no token is good", async () => {
  await token("revoke", "00112233aabbccdd");
  const faults: unknown[] = [];
  const timers = new ManualTimers({ msPerLook: 2_000 });
  const keys = new TokenFiles(home, { timers, onFault: (error) => faults.push(error) });
  const state = readFileSync(tokensPath(home));
  for (const damaged of ["", "{}", "[]", '{"revoked":[{"kind":"id"}]}', '{"revoked":[],"previous":{"secret":"00"}}']) {
    writeFileSync(tokensPath(home), damaged);
    assert.deepEqual(keys.secrets(), [], damaged);
    assert.equal(keys.isRevoked({ id: undefined, subject: undefined }), true);
    assert.equal((await token("revoke", "00112233aabbccde")).code, 2);
  }
  assert.equal(faults.length, 1);
  writeFileSync(tokensPath(home), state);
  assert.equal(keys.secrets().length, 1);
});
