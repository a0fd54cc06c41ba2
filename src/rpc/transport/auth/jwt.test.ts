import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { type JwtClaims, signJwt, verifyJwt } from "./jwt.ts";

const secret = Buffer.alloc(32, 7);
const now = 1_700_000_000;

const faultOf = (token: string, at = now, key: Uint8Array = secret) => {
  const verdict = verifyJwt(token, [key], at);
  return "fault" in verdict ? verdict.fault : undefined;
};

/** A token with any header, signed with any hash. */
function craft(header: object, claims: unknown, hash = "sha256", key: Uint8Array = secret): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const head = `${part(header)}.${part(claims)}`;
  return `${head}.${createHmac(hash, key).update(head).digest("base64url")}`;
}

test("verifyJwt gives back the claims of signJwt", () => {
  const claims = { iat: now, exp: now + 10, namespaces: ["personal", "miner"] };
  assert.deepEqual(verifyJwt(signJwt(claims, secret), [secret], now), { claims });
});

test("verifyJwt reads the example of RFC 7515 appendix A.1, whose exp is long over", () => {
  const key = Buffer.from(
    "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
    "base64url",
  );
  const token =
    "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
  assert.equal(faultOf(token, 1_300_819_379, key), undefined);
  assert.equal(faultOf(token, 1_300_819_380, key), "time");
});

test("verifyJwt without exp wants iat within a minute", () => {
  for (const [skew, fault] of [
    [0, undefined],
    [59, undefined],
    [-59, undefined],
    [60, undefined],
    [61, "time"],
    [-61, "time"],
  ] as const) {
    assert.equal(faultOf(signJwt({ iat: now + skew }, secret)), fault, `iat ${skew} s off`);
  }
  assert.equal(faultOf(signJwt({}, secret)), "time");
});

test("verifyJwt with exp wants it ahead, and iat not ahead", () => {
  assert.equal(faultOf(signJwt({ iat: now - 9999, exp: now + 1 }, secret)), undefined);
  assert.equal(faultOf(signJwt({ exp: now + 1 }, secret)), undefined);
  assert.equal(faultOf(signJwt({ exp: now }, secret)), "time");
  // A fresh iat does not make up for an exp that is over.
  assert.equal(faultOf(signJwt({ iat: now, exp: now - 1 }, secret)), "time");
  assert.equal(faultOf(signJwt({ iat: now + 61, exp: now + 999 }, secret)), "time");
});

test("verifyJwt takes HS256 and no other algorithm", () => {
  const claims = { iat: now };
  assert.equal(faultOf(craft({ alg: "HS256" }, claims)), undefined);
  for (const alg of ["none", "None", "NONE", "", "HS384", "HS512", "RS256", "hs256", null, 1]) {
    assert.equal(faultOf(craft({ alg, typ: "JWT" }, claims)), "algorithm", `alg ${alg}`);
  }
  assert.equal(faultOf(craft({ alg: "HS384" }, claims, "sha384")), "algorithm");
  assert.equal(faultOf(craft({ typ: "JWT" }, claims)), "algorithm");
  assert.equal(faultOf(craft({ alg: "HS256", crit: ["exp"] }, claims)), "algorithm");
  const [head, payload] = craft({ alg: "none" }, claims).split(".");
  assert.equal(faultOf(`${head}.${payload}.`), "form");
});

test("verifyJwt refuses the signature of another secret, of other claims, and a shortened one", () => {
  const token = signJwt({ iat: now }, secret);
  assert.equal(faultOf(signJwt({ iat: now }, Buffer.alloc(32, 8))), "signature");
  assert.equal(faultOf(signJwt({ iat: now }, new Uint8Array(0))), "signature");
  const [head, , mac] = token.split(".");
  const [, other] = signJwt({ iat: now, namespaces: ["personal"] }, secret).split(".");
  assert.equal(faultOf(`${head}.${other}.${mac}`), "signature");
  assert.equal(faultOf(token.slice(0, -4)), "signature");
  assert.equal(faultOf(craft({ alg: "HS256" }, { iat: now }, "sha512")), "signature");
});

test("verifyJwt refuses claims of other types, and any that would narrow the token unseen", () => {
  for (const claims of [
    { iat: String(now) },
    { iat: null, exp: now + 9 },
    { exp: "never" },
    { iat: now, nbf: now - 9 },
    { iat: now, namespaces: "personal" },
    { iat: now, namespaces: [1] },
    [now],
    null,
    "x",
  ]) {
    assert.equal(faultOf(craft({ alg: "HS256" }, claims)), "claims", JSON.stringify(claims));
  }
});

test("verifyJwt refuses what is no token, however long", () => {
  for (const text of ["", ".", "..", "a.b", "a.b.c.d", "a.b.c d", `${"A".repeat(3000)}.a.a`]) {
    assert.ok(faultOf(text), text.slice(0, 20));
  }
  assert.equal(faultOf(`${"A".repeat(10_240)}.a.a`), "length");
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      assert.ok(faultOf(text));
    }),
  );
});

test("verifyJwt refuses a good token with any one character changed", () => {
  const token = signJwt({ iat: now, exp: now + 60 } satisfies JwtClaims, secret);
  fc.assert(
    fc.property(fc.nat(token.length - 2), fc.constantFrom(..."abcXYZ019-_."), (at, letter) => {
      fc.pre(token[at] !== letter);
      assert.ok(faultOf(token.slice(0, at) + letter + token.slice(at + 1)));
    }),
  );
});
