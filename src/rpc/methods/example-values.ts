/** Accounts of the dev chain, and placeholders for values that a caller fills in. */
const ALICE = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const BOB = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const HASH = "0x1111111111111111111111111111111111111111111111111111111111111111";
const ZERO = "0x0000000000000000000000000000000000000000000000000000000000000000";
const WHISPER_IDENTITY =
  "0x0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
const CALL = { from: ALICE, to: BOB, value: "0x1" };
const RAW =
  "0xf86c808504a817c8008252089470997970c51812dc3a010c7d01b50e0d17dc79c8880de0b6b3a76400008025a0" +
  "28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a0" +
  "67cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83";
const TYPED_DATA = {
  types: {
    EIP712Domain: [{ name: "name", type: "string" }],
    Mail: [{ name: "text", type: "string" }],
  },
  primaryType: "Mail",
  domain: { name: "Mail" },
  message: { text: "hello" },
};

/** Placeholder values in the examples of methods, which callers replace by their own. */
export const SAMPLE = {
  alice: ALICE,
  bob: BOB,
  hash: HASH,
  zero: ZERO,
  whisperIdentity: WHISPER_IDENTITY,
  call: CALL,
  rawTransaction: RAW,
  typedData: TYPED_DATA,
} as const;
