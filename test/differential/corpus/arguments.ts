import { PROGRAMS } from "../programs.ts";
import type { ChainFacts, DifferentialCase } from "./request.ts";

const QUANTITIES = [
  null,
  "",
  "0x",
  "0x0",
  "0x00",
  "0x1",
  "0x01",
  5,
  "5",
  true,
  [],
  {},
  "0xg",
  "0xffffffffffffffff",
  "0x10000000000000000",
  `0x${"f".repeat(64)}`,
  `0x1${"0".repeat(64)}`,
  "0x20000000000000",
];
const DATA = [null, "", "0x", "0x0", "0x00", "00", 5, true, [], {}, "0xzz", `0x${"ff".repeat(100)}`];
const ADDRESSES = [
  null,
  "",
  "0x",
  `0x${"11".repeat(19)}`,
  `0x${"11".repeat(21)}`,
  5,
  {},
  [],
  `0x${"zz".repeat(20)}`,
  `0x${"11".repeat(20)}`,
];
const HASHES = [null, "", "0x", "0x12", 5, {}, [], `0x${"11".repeat(32)}`, `0x01${"11".repeat(31)}`];

const blob = `0x${"00".repeat(131_072)}`;
const bytes48 = `0x${"c0".padEnd(96, "0")}`;
const AUTHORIZATION = {
  chainId: "0x0",
  address: `0x${"11".repeat(20)}`,
  nonce: "0x0",
  yParity: "0x0",
  r: "0x1",
  s: "0x1",
};

/** Values for each member of a call, good and bad. */
const FIELDS: Readonly<Record<string, readonly unknown[]>> = {
  from: ADDRESSES,
  to: ADDRESSES,
  gas: [...QUANTITIES, "0x5207", "0x5208", "0x1000001"],
  gasPrice: QUANTITIES,
  maxFeePerGas: QUANTITIES,
  maxPriorityFeePerGas: QUANTITIES,
  value: QUANTITIES,
  nonce: QUANTITIES,
  data: DATA,
  input: DATA,
  chainId: QUANTITIES,
  maxFeePerBlobGas: QUANTITIES,
  accessList: [
    null,
    [],
    {},
    "x",
    5,
    [5],
    [{}],
    [null],
    [{ address: "0x1" }],
    [{ address: `0x${"11".repeat(20)}` }],
    [{ storageKeys: [] }],
    [{ address: `0x${"11".repeat(20)}`, storageKeys: null }],
    [
      {
        address: `0x${"11".repeat(20)}`,
        storageKeys: [`0x${"00".repeat(32)}`, `0x${"00".repeat(32)}`],
      },
    ],
    [{ address: `0x${"11".repeat(20)}`, storageKeys: ["0x1"] }],
    [
      { address: `0x${"11".repeat(20)}`, storageKeys: [] },
      { address: `0x${"11".repeat(20)}`, storageKeys: [] },
    ],
  ],
  blobVersionedHashes: [
    null,
    [],
    {},
    "x",
    [null],
    ["0x1"],
    HASHES,
    ...HASHES.map((hash) => [hash]),
    new Array(6).fill(`0x01${"11".repeat(31)}`),
    new Array(7).fill(`0x01${"11".repeat(31)}`),
  ],
  blobs: [null, [], {}, "x", [null], ["0x"], ["0x00"], [`0x${"00".repeat(131_071)}`], [blob], [`${blob}00`]],
  commitments: [null, [], {}, "x", [null], ["0x"], ["0x00"], [`0x${"00".repeat(49)}`], [bytes48]],
  proofs: [null, [], {}, "x", [null], ["0x"], ["0x00"], [`0x${"00".repeat(49)}`], [bytes48]],
  authorizationList: [
    null,
    [],
    {},
    "x",
    [null],
    [{}],
    [AUTHORIZATION],
    ...Object.keys(AUTHORIZATION).map((name) => [{ ...AUTHORIZATION, [name]: undefined }]),
    ...Object.keys(AUTHORIZATION).flatMap((name) =>
      ["0x", "", 5, null, `0x${"ff".repeat(32)}`, "0x100", "0xffff"].map((value) => [
        { ...AUTHORIZATION, [name]: value },
      ]),
    ),
  ],
  gasLimit: [],
  unknown: [1, null],
};

const EXECUTING = ["eth_call", "eth_estimateGas", "eth_createAccessList", "debug_traceCall"];

/** Each member of the call object with each value, under every method that takes one. */
export function* argumentCases({ sender, chainId }: ChainFacts): Generator<DifferentialCase> {
  const target = PROGRAMS.find(({ name }) => name === "environment")!.address;
  for (const [field, values] of Object.entries(FIELDS)) {
    for (const value of values) {
      for (const base of [{ from: sender, to: target }, { to: sender }]) {
        const call = { ...base, [field]: value };
        const name = `${field} ${JSON.stringify(value)?.slice(0, 60)}`;
        for (const method of EXECUTING) yield { name, method, params: [call, "latest"] };
        yield {
          name,
          method: "eth_simulateV1",
          params: [{ blockStateCalls: [{ calls: [call] }] }, "latest"],
        };
        yield { name, method: "eth_fillTransaction", params: [{ nonce: "0x0", ...call }] };
      }
    }
  }
  const calls: readonly unknown[] = [
    null,
    {},
    [],
    "x",
    5,
    true,
    { from: sender },
    { gasPrice: "0x1", maxFeePerGas: "0x1" },
    { to: target, gasPrice: "0x1", maxPriorityFeePerGas: "0x1" },
    { to: target, maxFeePerGas: "0x1", maxPriorityFeePerGas: "0x2" },
    { from: sender, to: target, maxFeePerGas: "0xffffffffffff", maxPriorityFeePerGas: "0x2" },
    { from: sender, to: target, maxFeePerGas: "0x1" },
    { from: sender, to: target, maxPriorityFeePerGas: "0x1" },
    { from: sender, to: target, gasPrice: "0xffffffffff" },
    { from: sender, to: target, chainId: `0x${chainId.toString(16)}` },
    { from: sender, to: target, data: "0x01", input: "0x02" },
    { from: sender, to: target, data: "0x01", input: "0x01" },
    {
      from: sender,
      to: target,
      blobVersionedHashes: [`0x01${"22".repeat(31)}`],
      maxFeePerBlobGas: "0x1",
    },
    {
      from: sender,
      to: target,
      blobVersionedHashes: [`0x01${"22".repeat(31)}`],
      maxFeePerBlobGas: "0x0",
    },
    { from: sender, blobVersionedHashes: [`0x01${"22".repeat(31)}`] },
    { from: sender, authorizationList: [AUTHORIZATION], input: "0x00" },
    { from: sender, to: target, authorizationList: [], gasPrice: "0x1" },
    { FROM: sender, TO: target },
    { from: target, to: sender },
    { from: `0x${"77".repeat(20)}`, to: sender, value: "0x1" },
    { from: `0x${"77".repeat(20)}`, to: sender, gasPrice: "0xffffffffff" },
  ];
  for (const call of calls) {
    const name = `call ${JSON.stringify(call).slice(0, 80)}`;
    for (const method of EXECUTING) {
      for (const block of ["latest", "0x1", "0xffff", "earliest", `0x${"12".repeat(32)}`]) {
        yield { name, method, params: [call, block] };
      }
      yield { name, method, params: [call] };
      yield { name, method, params: [call, null] };
      yield { name, method, params: [call, "latest", null, null] };
      yield { name, method, params: [call, "latest", {}, {}, {}] };
    }
    for (const validation of [true, false]) {
      yield {
        name,
        method: "eth_simulateV1",
        params: [{ blockStateCalls: [{ calls: [call] }], validation }, "latest"],
      };
    }
    yield { name, method: "eth_fillTransaction", params: [call] };
  }
  for (const method of EXECUTING) yield { name: "no arguments", method, params: [] };
}

/** Members of block and state overrides with each value. */
export function* overrideCases({ sender, head }: ChainFacts): Generator<DifferentialCase> {
  const environment = PROGRAMS.find(({ name }) => name === "environment")!;
  const hashes = PROGRAMS.find(({ name }) => name === "blockHash")!;
  const call = { from: sender, to: environment.address };
  const code = {
    [environment.address]: { code: environment.code },
    [hashes.address]: { code: hashes.code },
  };
  const methods = (name: string, request: object, state: unknown, block: unknown): readonly DifferentialCase[] => [
    { name, method: "eth_call", params: [request, "latest", state, block] },
    { name, method: "eth_estimateGas", params: [request, "latest", state, block] },
    { name, method: "eth_createAccessList", params: [request, "latest", state] },
    {
      name,
      method: "debug_traceCall",
      params: [request, "latest", { stateOverrides: state, blockOverrides: block }],
    },
    {
      name,
      method: "eth_simulateV1",
      params: [{ blockStateCalls: [{ blockOverrides: block, stateOverrides: state, calls: [request] }] }, "latest"],
    },
  ];
  const blockFields: Readonly<Record<string, readonly unknown[]>> = {
    number: [
      ...QUANTITIES,
      `0x${head.toString(16)}`,
      `0x${(head + 1).toString(16)}`,
      `0x${(head + 3).toString(16)}`,
      "0x2",
    ],
    time: [...QUANTITIES, "0x65000000", "0x70000000", "0x1ff"],
    difficulty: QUANTITIES,
    gasLimit: [...QUANTITIES, "0x5208", "0x100000"],
    feeRecipient: ADDRESSES,
    prevRandao: HASHES,
    baseFeePerGas: QUANTITIES,
    blobBaseFee: QUANTITIES,
    beaconRoot: HASHES,
    withdrawals: [null, [], {}, "x", [{}], [{ index: "0x1", validatorIndex: "0x2", address: sender, amount: "0x3" }]],
    unknown: [1],
    random: [HASHES[7]],
    NUMBER: ["0x1"],
  };
  for (const [field, values] of Object.entries(blockFields)) {
    for (const value of values) {
      const name = `block override ${field} ${JSON.stringify(value)?.slice(0, 50)}`;
      for (const request of [
        call,
        { ...call, to: hashes.address },
        { ...call, gasPrice: "0x77359400" },
        { ...call, maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x2" },
      ]) {
        yield* methods(name, request, code, { [field]: value });
      }
    }
  }
  const accountFields: Readonly<Record<string, readonly unknown[]>> = {
    nonce: QUANTITIES,
    code: [...DATA, "0x5f545f5260205ff3", "0xef0100"],
    balance: QUANTITIES,
    state: [
      null,
      {},
      [],
      "x",
      5,
      { "0x1": "0x2" },
      { [`0x${"00".repeat(32)}`]: `0x${"00".repeat(31)}05` },
      { [`0x${"00".repeat(32)}`]: "0x5" },
    ],
    stateDiff: [null, {}, [], "x", 5, { "0x1": "0x2" }, { [`0x${"00".repeat(32)}`]: `0x${"00".repeat(31)}05` }],
    movePrecompileToAddress: ADDRESSES,
    unknown: [1],
  };
  const precompile = `0x${"00".repeat(19)}02`;
  for (const [field, values] of Object.entries(accountFields)) {
    for (const value of values) {
      for (const address of [sender, environment.address, precompile]) {
        const name = `account override ${field} ${JSON.stringify(value)?.slice(0, 50)}`;
        yield* methods(name, { from: sender, to: address, input: "0x01" }, { [address]: { [field]: value } }, null);
      }
    }
  }
  const moved = `0x${"33".repeat(20)}`;
  for (const overrides of [
    null,
    {},
    [],
    "x",
    5,
    { "0x1": {} },
    { [sender]: null },
    { [sender]: 5 },
    { [sender]: [] },
    { [sender]: { state: {}, stateDiff: {} } },
    { [precompile]: { movePrecompileToAddress: moved }, [moved]: { code: "0x00" } },
    { [precompile]: { movePrecompileToAddress: moved } },
    { [precompile]: { movePrecompileToAddress: precompile } },
    { [moved]: { movePrecompileToAddress: sender } },
    { [precompile]: { balance: "0x1" } },
    {
      [precompile]: {
        movePrecompileToAddress: moved,
        code: "0x60016000526020 6000f3".replace(" ", ""),
      },
    },
    {
      [`0x${"00".repeat(19)}03`]: { movePrecompileToAddress: moved },
      [precompile]: { movePrecompileToAddress: moved },
    },
  ]) {
    for (const to of [moved, precompile, sender]) {
      const name = `overrides ${JSON.stringify(overrides)?.slice(0, 60)}`;
      yield* methods(name, { from: sender, to, input: "0x0102" }, overrides, null);
    }
  }
}

/** Trace options with each value. */
export function* traceOptionCases({ sender, blocks }: ChainFacts): Generator<DifferentialCase> {
  const last = blocks.findLast(({ transactions }) => transactions.length > 0)!;
  const options: Readonly<Record<string, readonly unknown[]>> = {
    tracer: ["callTracer", "", "none", null, 5, {}, [], "{}", "{step:function(){}}"],
    tracerConfig: [null, {}, [], "x", 5],
    timeout: [null, "", "5s", "1m", "abc", 5, "1", "5 s", "-1s", "1h", {}, "1.5s", ".5s", "5S"],
    enableMemory: [null, true, false, "x", 1],
    disableStack: [null, true, false, "x", 1],
    disableStorage: [null, true, "x"],
    enableReturnData: [null, true, 0],
    limit: [null, 0, 1, -1, "1", 1.5, {}],
    reexec: [null, 0, 1, -1, "1", 1.5, {}, "0x1"],
    overrides: [null, {}, [], "x", 5, { londonBlock: null }, { londonBlock: 0 }],
    txIndex: [null, "0x0", "0x1", "0xffff", 0, "x"],
    debug: [true, "x"],
    unknown: [1],
  };
  const tracerOptions: Readonly<Record<string, readonly unknown[]>> = {
    callTracer: [{ onlyTopCall: 1 }, { withLog: "x" }, { unknown: 1 }, { onlyTopCall: null }, [], "x"],
    prestateTracer: [{ diffMode: "x" }, { diffMode: true, includeEmpty: true }, { unknown: 1 }, 5],
    flatCallTracer: [{ convertParityErrors: 1 }, { includePrecompiles: true }],
    muxTracer: [{}, { none: {} }, { callTracer: 5 }, { callTracer: null }, [], { callTracer: { withLog: 5 } }],
    "4byteTracer": [{}, { unknown: 1 }],
    noopTracer: [{}],
  };
  const call = { from: sender, to: PROGRAMS.find(({ name }) => name === "sload")!.address };
  const each = function* (name: string, config: unknown): Generator<DifferentialCase> {
    yield { name, method: "debug_traceCall", params: [call, "latest", config] };
    yield { name, method: "debug_traceTransaction", params: [last.transactions[0], config] };
    yield { name, method: "debug_traceBlockByNumber", params: [last.number, config] };
    yield { name, method: "debug_traceBlockByHash", params: [last.hash, config] };
  };
  for (const [field, values] of Object.entries(options)) {
    for (const value of values) yield* each(`trace option ${field} ${JSON.stringify(value)}`, { [field]: value });
  }
  for (const [tracer, configs] of Object.entries(tracerOptions)) {
    for (const tracerConfig of configs) {
      yield* each(`${tracer} ${JSON.stringify(tracerConfig)}`, { tracer, tracerConfig });
    }
  }
  for (const config of [null, {}, [], "x", 5]) yield* each(`trace config ${JSON.stringify(config)}`, config);
  for (const block of [
    "pending",
    "0x0",
    "0xffff",
    "earliest",
    `0x${"12".repeat(32)}`,
    { blockHash: `0x${"12".repeat(32)}` },
    { blockNumber: "0xffff" },
    "safe",
  ]) {
    for (const method of ["debug_traceBlockByNumber", "debug_traceBlockByHash"])
      yield { name: "trace which block", method, params: [block] };
    yield { name: "trace which block", method: "debug_traceCall", params: [call, block] };
    yield {
      name: "trace which block",
      method: "debug_traceCall",
      params: [call, block, { tracer: "callTracer" }],
    };
  }
  for (const rlp of ["0x", "0xc0", "0x80", "0x00", "0xc1c0", "0xf8", null, 5, "x"]) {
    yield { name: "trace block of RLP", method: "debug_traceBlock", params: [rlp] };
  }
}
