import assert from "node:assert/strict";
import { test } from "node:test";
import { callArguments, simulatedBlockOverrides, simulatedStateOverrides } from "./call-arguments.ts";

const ADDRESS = "0xc000000000000000000000000000000000000000";
const BLOCK = "block override";
const ACCOUNT = "state override for 0xC000000000000000000000000000000000000000";

for (const [what, decode, good] of [
  [BLOCK, (members: object) => simulatedBlockOverrides.decode(members), { Number: "0x1", time: "0x2" }],
  [
    ACCOUNT,
    (members: object) => simulatedStateOverrides.decode({ [ADDRESS]: members }),
    { Code: "0x00", balance: "0x1", movePrecompileToAddress: ADDRESS },
  ],
] as const) {
  test(`eth_simulateV1 refuses unknown and doubled names in a ${what}`, () => {
    decode(good);
    decode({});
    const name = Object.keys(good)[0]!;
    const other = name.toLowerCase();
    for (const [members, message] of [
      [{ ...good, foo: "0x1" }, `unknown field "foo" in ${what}`],
      [{ toString: "0x1" }, `unknown field "toString" in ${what}`],
      [JSON.parse('{"__proto__":"0x1"}'), `unknown field "__proto__" in ${what}`],
      [{ ...good, [other]: "0x1" }, `keys "${name}" and "${other}" in ${what} name the same field`],
    ] as const) {
      assert.throws(() => decode(members), { code: "RPC_INVALID_VALUE", message });
    }
  });
}

test("callArguments takes a yParity of 0 or 1 alone", () => {
  const authorization = { chainId: "0x1", address: ADDRESS, nonce: "0x0", r: "0x1", s: "0x1" };
  const decode = (yParity: string) => callArguments.decode({ authorizationList: [{ ...authorization, yParity }] });
  for (const yParity of ["0x0", "0x1"]) assert.equal(decode(yParity).authorizationList?.[0]?.yParity, BigInt(yParity));
  for (const yParity of ["0x2", "0x1b", "0x100", "0xffffffffffffffff"]) {
    assert.throws(() => decode(yParity), { message: "'yParity' field must be 0 or 1" });
  }
});
