import { BLOB_LENGTH, blobVersionedHash } from "../../src/base/crypto/kzg/blob.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import type { TransactionFields } from "../../src/base/types/transaction/codec.ts";
import { encodePooledTransaction } from "../../src/base/types/transaction/encode.ts";
import { signAuthorization, signTransaction } from "../../src/base/types/transaction/sign.ts";
import type { BlobSidecar } from "../../src/base/types/transaction/transaction.ts";

/** A chain on which the requests mean something: what each account has, and a contract that reverts with its calldata. */
export type OddChain = {
  readonly chainId: bigint;
  readonly rich: Uint8Array;
  readonly richAddress: Address;
  /** Its nonce in block 0 is 5. */
  readonly used: Uint8Array;
  readonly poor: Uint8Array;
  readonly reverter: Address;
};

const GWEI = 10n ** 9n;
const TO = `0x${"7a".repeat(20)}` as Address;
/** No point of the curve. */
const NO_COMMITMENT = new Uint8Array(48).fill(0x11);
const CELLS_PER_BLOB = 128;
/** More than any transaction may have. */
const OVERSIZED_BYTES = 200_000;
/** More than a request may have. */
const OVERSIZED_BODY_BYTES = 6_000_000;

/** Requests without answer over WebSocket. */
export const SILENT_REQUESTS: ReadonlySet<string> = new Set(["nothing", "a batch of notifications", "a notification"]);
/** More bytes than a request may have. */
export const LAST_REQUEST = "too many bytes";
/** Requests that end a WebSocket. */
export const ENDING_REQUESTS: ReadonlySet<string> = new Set(["no JSON", LAST_REQUEST]);

/** Bodies of requests by name, which are sent in order: wrong ones of every kind, and right ones that begin what later ones meet. */
export function oddRequests(chain: OddChain): readonly (readonly [name: string, body: string])[] {
  return [...wrongBodies(), ...submissions(chain), ...calls(chain), ...filters(chain), ...batches(chain)];
}

function call(method: unknown, params: unknown = []): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

const submit = (raw: string) => call("eth_sendRawTransaction", [raw]);

function wrongBodies(): (readonly [string, string])[] {
  const bodies: Readonly<Record<string, string>> = {
    "no JSON": "{",
    nothing: "",
    "a number": "7",
    null: "null",
    "a text": '"eth_chainId"',
    "no method": '{"jsonrpc":"2.0","id":1}',
    "a method that is a number": call(7),
    "another version": '{"jsonrpc":"1.0","id":1,"method":"eth_chainId","params":[]}',
    "an id that is an object": '{"jsonrpc":"2.0","id":{},"method":"eth_chainId","params":[]}',
    "an id that is a text": '{"jsonrpc":"2.0","id":"one","method":"eth_chainId","params":[]}',
    "a fraction as an id": '{"jsonrpc":"2.0","id":1.5,"method":"eth_chainId","params":[]}',
    "null as an id": '{"jsonrpc":"2.0","id":null,"method":"eth_chainId","params":[]}',
    "members twice": '{"jsonrpc":"2.0","id":1,"id":2,"method":"eth_chainId","method":"net_version","params":[]}',
    "params by name": call("eth_getBalance", { address: TO }),
    "params that are a text": call("eth_chainId", "x"),
    "params that are null": call("eth_chainId", null),
    "an unknown method": call("eth_unknown"),
    "an unknown namespace": call("nothing_here"),
    "a method of a closed namespace": call("admin_nodeInfo"),
    "a private method": call("debug_setHead", ["0x0"]),
    "a long name": call("x".repeat(5_000)),
    "a name of another kind": call("__proto__"),
    "deep nesting": `${"[".repeat(2_000)}${"]".repeat(2_000)}`,
  };
  return Object.entries(bodies);
}

function submissions({ chainId, rich, used, poor }: OddChain): (readonly [string, string])[] {
  const shared = {
    chainId,
    nonce: 0n,
    gasLimit: 21_000n,
    to: TO,
    value: 1n,
    data: new Uint8Array(),
  };
  const priced = { accessList: [], maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI };
  const types: Readonly<Record<string, TransactionFields>> = {
    legacy: { ...shared, type: 0, gasPrice: 10n * GWEI },
    "access list": { ...shared, type: 1, gasPrice: 10n * GWEI, gasLimit: 30_000n, accessList: [] },
    "dynamic fee": { ...shared, ...priced, type: 2 },
    blob: {
      ...shared,
      ...priced,
      type: 3,
      maxFeePerBlobGas: GWEI,
      blobVersionedHashes: [`0x01${"22".repeat(31)}` as Hash],
    } as TransactionFields,
    "set code": {
      ...shared,
      ...priced,
      type: 4,
      gasLimit: 100_000n,
      authorizationList: [signAuthorization({ chainId, address: TO, nonce: 0n }, poor)],
    } as TransactionFields,
  };
  const requests: (readonly [string, string])[] = [];
  const add = (name: string, raw: string) => requests.push([`submission: ${name}`, submit(raw)]);
  const send = (name: string, fields: TransactionFields, key = rich) =>
    add(name, bytesToHex(encodePooledTransaction(signTransaction(fields, key))));

  for (const raw of [
    "0x",
    "0x0",
    "0xzz",
    "abc",
    "0x00",
    "0x01",
    "0x02",
    "0x03",
    "0x04",
    "0x05",
    "0x7f",
    "0xc0",
    "0xff",
  ])
    add(raw, raw);
  for (const [name, fields] of Object.entries(types)) {
    const raw = bytesToHex(encodePooledTransaction(signTransaction(fields, rich)));
    const last = raw.slice(-2) === "00" ? "01" : "00";
    add(`${name}, cut`, raw.slice(0, -2));
    add(`${name}, half`, raw.slice(0, 2 * Math.floor(raw.length / 4)));
    add(`${name}, a byte more`, `${raw}00`);
    add(`${name}, another signature`, raw.slice(0, -2) + last);
    add(`${name}, of an unknown type`, `0x0e${raw.slice(4)}`);
    send(`${name}, of another chain`, { ...fields, chainId: chainId + 1n } as TransactionFields);
    send(`${name}, too little gas`, { ...fields, gasLimit: 20_999n } as TransactionFields);
    send(`${name}, all gas there is`, { ...fields, gasLimit: 2n ** 64n - 1n } as TransactionFields);
    send(`${name}, a nonce that was used`, { ...fields, nonce: 4n } as TransactionFields, used);
    send(`${name}, the last nonce`, { ...fields, nonce: 2n ** 64n - 1n } as TransactionFields);
    send(`${name}, no funds`, fields, poor);
    send(`${name}, more than it has`, { ...fields, value: 10n ** 30n } as TransactionFields);
    send(`${name}, too many bytes`, {
      ...fields,
      gasLimit: 16_000_000n,
      data: new Uint8Array(OVERSIZED_BYTES),
    } as TransactionFields);
  }
  const dynamic = types["dynamic fee"] as TransactionFields & { readonly type: 2 };
  const fees = (fee: bigint, tip: bigint): TransactionFields => ({
    ...dynamic,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: tip,
  });
  send("without protection against replay", { ...types["legacy"], chainId: undefined } as TransactionFields);
  send("a tip above the fee", fees(GWEI, 2n * GWEI));
  send("fees of 257 bits", fees(2n ** 256n - 1n, 1n));
  send("a fee below the base fee", fees(1n, 1n));
  send("a fee of more than an ether", fees(10n ** 15n, GWEI));
  send("no tip", fees(10n * GWEI, 0n));
  send("init code that is too long", { ...dynamic, to: null, gasLimit: 16_000_000n, data: new Uint8Array(49_153) });
  send("blobs without blobs", { ...types["blob"], blobVersionedHashes: [] } as unknown as TransactionFields);
  send("no authorizations", { ...types["set code"], authorizationList: [] } as unknown as TransactionFields);
  for (const wrapperVersion of [0, 1] as const) {
    for (const proofs of [0, 1, CELLS_PER_BLOB]) {
      const fields = { ...types["blob"], blobVersionedHashes: [blobVersionedHash(NO_COMMITMENT)] } as TransactionFields;
      const sidecar: BlobSidecar = {
        wrapperVersion,
        blobs: [new Uint8Array(BLOB_LENGTH)],
        commitments: [NO_COMMITMENT],
        proofs: Array<Uint8Array>(proofs).fill(NO_COMMITMENT),
      };
      const raw = encodePooledTransaction(signTransaction(fields, rich), sidecar);
      add(`a blob with ${proofs} wrong proofs of version ${wrapperVersion}`, bytesToHex(raw));
    }
  }
  send("a right one", dynamic);
  send("the same one again", dynamic);
  send("a replacement that pays too little", fees(10n * GWEI + 1n, GWEI + 1n));
  send("a replacement", fees(20n * GWEI, 2n * GWEI));
  send("one after a gap", { ...dynamic, nonce: 7n });
  send("another of the used account", { ...dynamic, nonce: 5n }, used);
  for (const params of [[], [1], [null], ["0x02", "0x02"], [{}]]) {
    requests.push([`submission: params ${JSON.stringify(params)}`, call("eth_sendRawTransaction", params)]);
  }
  requests.push(["eth_sendTransaction without keys", call("eth_sendTransaction", [{ from: TO, to: TO }])]);
  requests.push(["eth_sign without keys", call("eth_sign", [TO, "0x00"])]);
  return requests;
}

function calls({ richAddress, reverter }: OddChain): (readonly [string, string])[] {
  const error = `0x08c379a0${"20".padStart(64, "0")}${"2".padStart(64, "0")}${"6e6f".padEnd(64, "0")}`;
  const list: readonly (readonly [string, unknown])[] = [
    ["eth_call", [{ to: reverter, data: error }, "latest"]],
    ["eth_call", [{ to: reverter, data: error }, "pending"]],
    ["eth_call", [{ to: reverter, data: "0x12345678" }, "latest"]],
    ["eth_call", [{ to: reverter }, "latest"]],
    ["eth_call", [{ to: TO, gas: "0x1" }, "latest"]],
    ["eth_call", [{ to: TO, from: richAddress, value: `0x${"f".repeat(64)}` }, "latest"]],
    ["eth_call", [{ to: TO, gasPrice: "0x1", maxFeePerGas: "0x1" }, "latest"]],
    ["eth_call", [{ to: TO, maxFeePerGas: "0x1" }, "latest"]],
    ["eth_call", [{ to: TO, data: "0x1", input: "0x2" }, "latest"]],
    ["eth_call", [{ to: TO, data: "0x12", input: "0x34" }, "latest"]],
    ["eth_call", [{ to: TO }, "0x99"]],
    ["eth_call", [{ to: TO }, "newest"]],
    ["eth_call", [{ to: TO }, { blockHash: `0x${"00".repeat(32)}` }]],
    ["eth_call", [{ to: TO }, "latest", { [TO]: { balance: "x" } }]],
    ["eth_call", [{ to: TO }, "latest", { [TO]: { state: {}, stateDiff: {} } }]],
    ["eth_call", [{ data: "0xfe" }, "latest"]],
    ["eth_call", ["0x", "latest"]],
    ["eth_call", []],
    ["eth_estimateGas", [{ to: reverter, data: error }]],
    ["eth_estimateGas", [{ to: reverter, data: error }, "pending"]],
    ["eth_estimateGas", [{ from: TO, to: richAddress, value: "0x1", gasPrice: "0x3b9aca00" }]],
    ["eth_createAccessList", [{ to: reverter, data: error }, "latest"]],
    ["eth_simulateV1", [{ blockStateCalls: [{ calls: [{ to: reverter, data: error }] }] }, "0x99"]],
    ["eth_simulateV1", [{ blockStateCalls: [] }, "latest"]],
    ["debug_traceCall", [{ to: reverter, data: error }, "latest", { tracer: "noTracer" }]],
    ["debug_traceTransaction", [`0x${"11".repeat(32)}`]],
    ["eth_getBalance", [TO]],
    ["eth_getBalance", ["0x1", "latest"]],
    ["eth_getBalance", [TO, "0x99"]],
    ["eth_getBalance", [TO, "latest", 1]],
    ["eth_getBalance", [TO.slice(2), "latest"]],
    ["eth_getTransactionCount", [richAddress, "pending"]],
    ["eth_getTransactionCount", [richAddress, "safe"]],
    ["eth_getStorageAt", [TO, "zz", "latest"]],
    ["eth_getStorageAt", [TO, `0x${"0".repeat(66)}`, "latest"]],
    ["eth_getProof", [TO, ["0x0"], "0x99"]],
    ["eth_getProof", [TO, Array(2_000).fill("0x0"), "latest"]],
    ["eth_getBlockByNumber", ["0x99", false]],
    ["eth_getBlockByNumber", ["0x0"]],
    ["eth_getBlockByNumber", ["0x01", false]],
    ["eth_getBlockByHash", [`0x${"00".repeat(32)}`, true]],
    ["eth_getBlockByHash", ["0x00", true]],
    ["eth_getTransactionByHash", [`0x${"11".repeat(32)}`]],
    ["eth_getTransactionReceipt", ["0x11"]],
    ["eth_getBlockReceipts", ["0x99"]],
    ["eth_feeHistory", ["0x1", "latest", [50, 10]]],
    ["eth_feeHistory", ["0x99", "0x99", []]],
    ["eth_getLogs", [{ fromBlock: "0x5", toBlock: "0x1" }]],
    ["eth_getLogs", [{ fromBlock: "0x0", toBlock: "0x99" }]],
    ["eth_getLogs", [{ blockHash: `0x${"00".repeat(32)}` }]],
    ["eth_getLogs", [{ blockHash: `0x${"00".repeat(32)}`, fromBlock: "0x0" }]],
    ["eth_getLogs", [{ topics: [[], null, "0x1"] }]],
    ["eth_getLogs", [{ address: "0x1" }]],
    ["txpool_status", []],
    ["txpool_content", []],
    ["txpool_contentFrom", [richAddress]],
    ["txpool_inspect", []],
    ["web3_sha3", ["0x1"]],
    ["net_version", ["more"]],
    ["eth_getWork", []],
    ["eth_submitWork", ["0x1", "0x2", "0x3"]],
    ["eth_submitHashrate", ["0x1", "0x2"]],
    ["eth_subscribe", ["newHeads"]],
    ["eth_unsubscribe", ["0x1"]],
  ];
  return list.map(([method, params]) => [`${method} ${JSON.stringify(params).slice(0, 80)}`, call(method, params)]);
}

function filters({ richAddress }: OddChain): (readonly [string, string])[] {
  const list: readonly (readonly [string, unknown])[] = [
    ["eth_newFilter", [{ address: richAddress }]],
    ["eth_newFilter", [{ fromBlock: "0x9", toBlock: "0x1" }]],
    ["eth_newFilter", [{ topics: [["0x1"]] }]],
    ["eth_newFilter", []],
    ["eth_newBlockFilter", []],
    ["eth_newBlockFilter", [1]],
    ["eth_newPendingTransactionFilter", []],
    ["eth_newPendingTransactionFilter", ["x"]],
    ["eth_getFilterChanges", ["0x1"]],
    ["eth_getFilterChanges", ["x"]],
    ["eth_getFilterLogs", [`0x${"1".repeat(32)}`]],
    ["eth_uninstallFilter", ["0x1"]],
    ["eth_uninstallFilter", []],
  ];
  return list.map(([method, params]) => [`${method} ${JSON.stringify(params)}`, call(method, params)]);
}

function batches({ richAddress }: OddChain): (readonly [string, string])[] {
  const one = { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] };
  const notification = { jsonrpc: "2.0", method: "eth_chainId", params: [] };
  const count = { ...one, id: 2, method: "eth_getTransactionCount", params: [richAddress, "pending"] };
  const wrong = { ...one, id: 3, method: "eth_unknown" };
  const bodies: Readonly<Record<string, unknown>> = {
    "an empty batch": [],
    "a batch of what is no call": [1, null, "x", {}, []],
    "a batch of right and wrong calls": [
      one,
      wrong,
      count,
      { ...one, id: 4, method: "eth_call", params: [{}, "newest"] },
    ],
    "a batch of notifications": [notification, notification],
    "a notification": notification,
    "a batch with the same id twice": [one, one],
    "too many calls": Array.from({ length: 1_001 }, (_, id) => ({ ...one, id })),
  };
  const list = Object.entries(bodies).map(([name, body]) => [name, JSON.stringify(body)] as const);
  const data = `0x${"00".repeat(OVERSIZED_BODY_BYTES / 2)}`;
  return [...list, [LAST_REQUEST, call("eth_call", [{ to: richAddress, data }, "latest"])]];
}
