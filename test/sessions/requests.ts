/**
 * What explorers ask a node for, in the order and the batches in which they ask: lists of methods and parameters over the blocks,
 * transactions and addresses of a chain.
 */

export type SessionRequest = { readonly method: string; readonly params: readonly unknown[] };

/** Requests sent in one message: more than one form a batch. */
export type SessionBatch = readonly SessionRequest[];

/** What a session is about: parts of a chain with contracts. */
export type SessionFacts = {
  readonly head: number;
  /** Each block's number as QUANTITY, its hash, and the hashes of its transactions. */
  readonly blocks: readonly {
    readonly number: string;
    readonly hash: string;
    readonly transactions: readonly string[];
  }[];
  /** A deployed token, an account with transactions, an account without code that received ether. */
  readonly token: string;
  readonly sender: string;
  readonly recipient: string;
};

const ask = (method: string, ...params: readonly unknown[]): SessionRequest => ({ method, params });
const alone = (method: string, ...params: readonly unknown[]): SessionBatch => [ask(method, ...params)];

const ZERO_ADDRESS = `0x${"00".repeat(20)}`;
const TRANSFER_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** `eth_call` data of `name()`, `symbol()`, `decimals()`, `totalSupply()` and `supportsInterface` of ERC-165. */
const TOKEN_CALLS = ["0x06fdde03", "0x95d89b41", "0x313ce567", "0x18160ddd", `0x01ffc9a7${"01ffc9a7".padEnd(64, "0")}`];
/** Slots in which proxies store their implementation, beacon and admin (EIP-1967). */
const PROXY_SLOTS = [
  "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc",
  "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50",
  "0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d5a717850b5d6103",
];
/** Most transactions of a block that a session opens. */
const OPENED_MAX = 6;
const PAGE = 25;

/** Otterscan: the start page, then block, transaction and address pages. */
export function otterscanSession(facts: SessionFacts): readonly SessionBatch[] {
  const { head, blocks, token, sender, recipient } = facts;
  const pages = blocks.filter(({ transactions }) => transactions.length > 0);
  return [
    alone("eth_chainId"),
    alone("net_version"),
    alone("ots_getApiLevel"),
    alone("erigon_getHeaderByNumber", 1),
    alone("eth_getBlockByNumber", "latest", false),
    alone("eth_syncing"),
    alone("ots_getBlockDetails", head),
    ...pages.flatMap(({ number, hash, transactions }) => [
      alone("ots_getBlockDetails", Number(number)),
      alone("ots_getBlockDetailsByHash", hash),
      alone("ots_getBlockTransactions", Number(number), 0, PAGE),
      alone("ots_getBlockTransactions", Number(number), 1, 3),
      ...spread(transactions).flatMap((transaction) => [
        alone("eth_getTransactionByHash", transaction),
        alone("eth_getTransactionReceipt", transaction),
        alone("ots_getTransactionError", transaction),
        alone("ots_getInternalOperations", transaction),
        alone("ots_traceTransaction", transaction),
      ]),
    ]),
    ...[sender, recipient, token, ZERO_ADDRESS].flatMap((address) => [
      alone("ots_hasCode", address, "latest"),
      alone("eth_getBalance", address, "latest"),
      alone("eth_getTransactionCount", address, "latest"),
      alone("ots_searchTransactionsBefore", address, 0, PAGE),
      alone("ots_searchTransactionsAfter", address, 0, PAGE),
      alone("ots_searchTransactionsBefore", address, head, 2),
      alone("ots_getContractCreator", address),
      alone("ots_getTransactionBySenderAndNonce", address, 0),
      alone("ots_getTransactionBySenderAndNonce", address, 1_000_000),
    ]),
    alone("eth_getCode", token, "latest"),
    ...TOKEN_CALLS.map((data) => alone("eth_call", { to: token, data }, "latest")),
    alone("erigon_getLogsByHash", pages[2]?.hash),
    alone("eth_getBlockByNumber", "0xffffff", false),
    alone("ots_getBlockDetails", 0xffffff),
  ];
}

/** The tracer of a Blockscout that does not use geth's own: type, ends, value and outcome of each call. */
const CALL_SCRIPT = `{
  calls: [],
  open: [],
  fault: function () {},
  enter: function (frame) {
    var call = { type: frame.getType().toLowerCase(), from: toHex(frame.getFrom()), to: toHex(frame.getTo()), input: toHex(frame.getInput()),
      gas: frame.getGas(), value: frame.getValue() === undefined ? "0x0" : "0x" + frame.getValue().toString(16), depth: this.open.length };
    this.calls.push(call);
    this.open.push(call);
  },
  exit: function (frame) {
    var call = this.open.pop();
    call.gasUsed = frame.getGasUsed();
    if (frame.getError() === undefined) call.output = toHex(frame.getOutput());
    else call.error = frame.getError();
  },
  result: function (ctx) {
    return { type: ctx.type, from: toHex(ctx.from), to: toHex(ctx.to), gasUsed: ctx.gasUsed, error: ctx.error, calls: this.calls };
  }
}`;

/** Blockscout's indexer: blocks with receipts, traces, balances, codes, tokens and the pool, in batches. */
export function blockscoutSession(facts: SessionFacts): readonly SessionBatch[] {
  const { blocks, token, sender, recipient } = facts;
  const full = blocks.filter(({ transactions }) => transactions.length > 0);
  const numbers = full.map(({ number }) => number);
  const opened = full.flatMap(({ transactions }) => spread(transactions));
  return [
    alone("web3_clientVersion"),
    alone("net_version"),
    alone("eth_blockNumber"),
    blocks.map(({ number }) => ask("eth_getBlockByNumber", number, true)),
    ...full.map(({ transactions }) => spread(transactions).map((hash) => ask("eth_getTransactionReceipt", hash))),
    numbers.map((number) => ask("eth_getBlockReceipts", number)),
    // The indexer of internal transactions, for geth: blocks, then single transactions.
    numbers.map((number) => ask("debug_traceBlockByNumber", number, { tracer: "callTracer" })),
    opened.map((hash) => ask("debug_traceTransaction", hash, { tracer: CALL_SCRIPT, timeout: "60s" })),
    // The same for Nethermind and Erigon.
    numbers.map((number) => ask("trace_block", number)),
    numbers.map((number) => ask("trace_replayBlockTransactions", number, ["trace"])),
    opened.map((hash) => ask("trace_replayTransaction", hash, ["trace"])),
    // Balances at blocks, codes, proxies, tokens.
    numbers.flatMap((number) =>
      [sender, recipient, token, ZERO_ADDRESS].map((address) => ask("eth_getBalance", address, number)),
    ),
    [sender, recipient, token].map((address) => ask("eth_getCode", address, "latest")),
    PROXY_SLOTS.map((slot) => ask("eth_getStorageAt", token, slot, "latest")),
    TOKEN_CALLS.map((data) => ask("eth_call", { to: token, data }, "latest")),
    alone("eth_getLogs", { fromBlock: "0x1", toBlock: "latest", topics: [TRANSFER_TOPIC] }),
    alone("eth_getLogs", { fromBlock: "0x1", toBlock: "latest", address: token }),
    alone("eth_getLogs", { blockHash: full[2]?.hash }),
    [ask("eth_getTransactionByHash", opened[0]), ask("eth_getTransactionCount", sender, "latest")],
    alone("eth_getUncleByBlockHashAndIndex", full[0]?.hash, "0x0"),
    alone("txpool_content"),
    [ask("eth_getBlockByNumber", "0xffffff", true), ask("eth_getBlockByHash", full[0]?.hash, true)],
  ];
}

/** Some of a list, first and last among them. */
function spread<T>(items: readonly T[]): readonly T[] {
  const step = Math.max(1, Math.floor(items.length / OPENED_MAX));
  return items.filter((_, i) => i % step === 0 || i === items.length - 1);
}
