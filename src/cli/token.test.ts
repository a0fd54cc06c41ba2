import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createJwtSecret, readJwtSecret } from "../config/secrets.ts";
import { verifyJwt } from "../rpc/transport/auth/jwt.ts";
import { runCli } from "./program.ts";
import { fakeContext } from "./testing/fake-context.ts";

const home = mkdtempSync(join(tmpdir(), "evmint-token-"));
createJwtSecret(home);
after(() => rmSync(home, { recursive: true }));

async function token(...args: readonly string[]) {
  const { context, output } = fakeContext();
  const code = await runCli(["token", "--home", home, ...args], context);
  return { code, ...output, now: context.now() / 1000 };
}

test("evmintd token prints a token that the secret of the home vouches for", async () => {
  const { code, stdout, now } = await token("--expires", "2h", "--namespaces", "personal, miner");
  assert.equal(code, 0);
  assert.deepEqual(verifyJwt(stdout.trim(), readJwtSecret(home), now + 7199), {
    claims: { iat: now, exp: now + 7200, namespaces: ["personal", "miner"] },
  });
  assert.deepEqual(verifyJwt(stdout.trim(), readJwtSecret(home), now + 7200), { fault: "time" });
});

test("evmintd token may be good for a year", async () => {
  const { code, stdout, now } = await token("--expires", "8760h");
  assert.equal(code, 0);
  const { claims } = verifyJwt(stdout.trim(), readJwtSecret(home), now) as { claims: unknown };
  assert.deepEqual(claims, { iat: now, exp: now + 365 * 86_400 });
});

test("evmintd token is good for a day and for everything by default", async () => {
  const { stdout, now } = await token();
  assert.deepEqual(verifyJwt(stdout.trim(), readJwtSecret(home), now), {
    claims: { iat: now, exp: now + 86_400 },
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
    ["--namespaces", "eth"],
  ]) {
    assert.equal((await token(...args)).code, 2, args.join(" "));
  }
});
