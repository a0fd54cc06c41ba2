import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFunctionData, parseAbi } from "viem";
import { hexToBytes } from "../base/primitives/hex.ts";
import { createConsoleReader } from "./console-log.ts";

const consoleText = createConsoleReader();

const ADDRESS = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";

const CALLS: readonly (readonly [signature: string, args: readonly unknown[], text: string])[] = [
  ["log()", [], ""],
  ["log(string)", ["héllo"], "héllo"],
  ["log(uint256)", [2n ** 255n], `${2n ** 255n}n`],
  ["log(int256)", [-5n], "-5n"],
  ["log(bool)", [true], "true"],
  ["log(address)", [ADDRESS], ADDRESS],
  ["log(bytes)", ["0x010203"], "0x010203"],
  ["log(bytes4)", ["0x01020304"], "0x01020304"],
  ["log(string,uint256)", ["supply %s left", 7n], "supply 7n left"],
  ["log(string,int256)", ["delta", -7n], "delta -7n"],
  ["log(string,address,bool,string)", ["%s is", ADDRESS, false, "here"], `${ADDRESS} is false here`],
];

for (const [signature, args, text] of CALLS) {
  test(`console.${signature}`, () => {
    const abi = parseAbi([`function ${signature}`] as unknown as readonly string[]);
    const data = encodeFunctionData({ abi, functionName: "log", args } as never);
    assert.equal(consoleText(hexToBytes(data)), text.replaceAll(/(-?\d+)n\b/g, "$1"));
  });
}

test("a function that console.sol has not prints nothing", () => {
  assert.equal(consoleText(hexToBytes("0x01020304")), undefined);
  assert.equal(consoleText(new Uint8Array()), undefined);
});
