/**
 * `npm run bench -- summary`: writes `docs/performance.md` from `bench/results/`. Measures nothing: each table says the commit and the machine that its
 * figures are of; a column is of each version of Node.js that has a file of its own. A ratio above 1 is in our favour, whatever is compared.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Scaling, ThreadBudget } from "./throughput/scaling.ts";

const RESULTS = new URL("./results/", import.meta.url);
const PAGE = new URL("../docs/performance.md", import.meta.url);

type Row = Readonly<Record<string, string | number | undefined>>;
type Result = {
  readonly commit: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly rows: readonly Row[];
};
/** What `throughput` has besides its rows. */
type ThroughputResult = {
  readonly rows: readonly { readonly load: string; readonly node: string; readonly threads?: ThreadBudget }[];
  readonly scaling: { readonly assumed: string; readonly rows: readonly Scaling[] };
};
/** One line of the page: what was measured, our figure, and how many times as much the peers need, or we do. */
type Line = {
  readonly what: string;
  readonly ours: string;
  readonly anvil?: number | undefined;
  readonly geth?: number | undefined;
};
type Table = { readonly file: string; readonly title: string; lines(rows: readonly Row[]): readonly Line[] };

/** Reasons for the rows in which a peer needs less, by title of the table. */
const REASONS: Readonly<Record<string, string>> = {
  "Sequential transactions":
    "The node answers each transaction after its block is synced to disk; anvil holds blocks only in memory. During the first few hundred transactions V8 still compiles code, which anvil's binary does not need to.",
  "A suite of 200 tests": "the same reasons: most of such a suite runs each function for the first time.",
  "Import and reindex":
    "Recovering the senders takes a third to a half of an import's CPU time: 45 µs each with the addon, 30 with a current libsecp256k1. Both nodes use both cores fully.",
  "Start to the first answer": "Node.js itself takes about 40 ms, and the node reads and checks its bundle.",
  "Requests a second":
    "A short answer costs three system calls on its socket, as in a server that returns a constant. Evmint runs all requests on one thread, while anvil uses both cores: if both take the same CPU, the row is below 1. With one connection most of the time is the wake-up of a sleeping thread: a loop that stayed awake doubled these rows for as much CPU, but two real clients gained nothing, and it was removed ([ADR 99](adr/0099-http.md)).",
  Traces:
    "anvil answers trace_block with traces that it stored in memory when it made the block, and noopTracer and muxTracer with empty objects.",
  "Sustained transactions":
    "Evmint accepts transactions and makes blocks on one thread, while anvil uses both cores for slightly more CPU. Evmint writes blocks to a log on disk, anvil to memory. anvil loses most of this load with instant blocks, so there is no ratio.",
};

/** What a table's figures depend on, by its title. */
const CONDITIONS: Readonly<Record<string, string>> = {
  "Beside hostile callers":
    "Latency of `eth_blockNumber` for one honest client, while 16 connections run calls of 50 million gas and 4 trace a block of 200 transactions.",
  Precompiles: "The inputs that take the most time for their gas, under the rules of Osaka.",
  "A large state":
    "CPU time of the state trie for each account that a block changes, on one thread. Predictions add one more step of the same size: each factor of ten adds the same share of a trie level, and of reads that miss every cache.",
  Traces:
    "The client is on the same machine and requests gzip. geth compresses every answer; Evmint compresses only answers from 1 MiB, which saves 1 to 2.5 ms. For remote clients both compress.",
};

const TABLES: readonly Table[] = [
  {
    file: "throughput",
    title: "Sustained transactions",
    lines: (rows) =>
      ofOurs(rows, "load").flatMap(({ what, own, peer }) => {
        const whole = (name: string) => (peer(name)["lost"] === 0 ? peer(name) : {});
        const rate = (name: string) => times(own, whole(name), "tx/s");
        const cpu = (name: string) => times(whole(name), own, "CPU us/tx");
        return [
          { what, ours: `${rounded(own["tx/s"])} tx/s`, anvil: rate("anvil"), geth: rate("geth") },
          {
            what: `${what}: CPU`,
            ours: `${rounded(own["CPU us/tx"])} µs each`,
            anvil: cpu("anvil"),
            geth: cpu("geth"),
          },
        ];
      }),
  },
  {
    file: "sequential-tx",
    title: "Sequential transactions",
    lines: (rows) =>
      ofOurs(rows, "transactions").map(({ what, own, peer }) => ({
        what,
        ours: `${rounded(own["tx/s"])} tx/s`,
        anvil: times(own, peer("anvil"), "tx/s"),
      })),
  },
  {
    file: "test-suite",
    title: "A suite of 200 tests",
    lines: (rows) => {
      const anvil = rows.find(({ node }) => node === "anvil over HTTP");
      return rows
        .filter(({ node }) => String(node).startsWith("evmint"))
        .map((row) => ({
          what: String(row["node"]),
          ours: `${rounded(row["wall s"])} s`,
          anvil: anvil && times(anvil, row, "wall s"),
        }));
    },
  },
  {
    file: "rpc",
    title: "Requests a second",
    lines: (rows) =>
      rows
        .filter(({ node }) => node === "evmint 0")
        .map((row) => ({
          what: `${row["request"]}, ${row["connections"]} connections`,
          ours: `${rounded(row["req/s"])}/s`,
          anvil: numberOf(row["req/s : anvil"]),
          geth: numberOf(row["req/s : geth"]),
        })),
  },
  {
    file: "evm",
    title: "Programs of the EVM, compiled",
    lines: (rows) =>
      rows.map((row) => ({
        what: String(row["program"]),
        ours: `${rounded(row["compiled ms"])} ms`,
        anvil: numberOf(row["anvil / compiled"]),
        geth: numberOf(row["geth / compiled"]),
      })),
  },
  {
    file: "trace",
    title: "Traces",
    lines: (rows) =>
      rows.map((row) => ({
        what: String(row["trace"]),
        ours: `${rounded(row["evmint CPU ms"])} ms CPU`,
        anvil: numberOf(row["CPU of anvil / ours"]),
        geth: numberOf(row["CPU of geth / ours"]),
      })),
  },
  {
    file: "chain-files",
    title: "Import and reindex",
    lines: (rows) =>
      ofOurs(
        rows.filter(({ work }) => !String(work).startsWith("genesis")),
        "work",
      ).map(({ what, own, peer }) => ({
        what,
        ours: `${rounded(own["tx/s"])} tx/s, ${rounded(own["peak MB"])} MB at most`,
        geth: times(own, peer("geth full"), "tx/s"),
      })),
  },
  {
    file: "start",
    title: "Start to the first answer",
    lines: (rows) => {
      const anvil = rows.find(({ start }) => start === "anvil");
      return rows
        .filter((row) => row !== anvil)
        .map((row) => ({
          what: String(row["start"]),
          ours: `${rounded(row["first answer ms p50"])} ms`,
          anvil: anvil && times(anvil, row, "first answer ms p50"),
        }));
    },
  },
  {
    file: "neighbours",
    title: "Beside hostile callers",
    lines: (rows) =>
      rows.map((row) => ({
        what: `${row["processes"]} RPC processes`,
        ours: `half within ${rounded(row["p50 ms"])} ms, 99 % within ${rounded(row["p99 ms"])} ms, a block at most ${rounded(row["latest block ms late"])} ms late`,
      })),
  },
  {
    file: "revert",
    title: "Going back",
    lines: (rows) =>
      rows.map((row) => ({
        what: `evm_revert of ${row["blocks"]} blocks of one transaction, ${row["store"]}`,
        ours: `${rounded(row["cpu ms"])} ms CPU`,
      })),
  },
  {
    file: "precompiles",
    title: "Precompiles",
    lines: (rows) =>
      rows
        .filter(({ fork }) => fork === "osaka")
        .slice(0, DEAREST_PRECOMPILES)
        .map((row) => ({ what: `${row["precompile"]}, ${row["input"]}`, ours: `${rounded(row["ns/gas"])} ns a gas` })),
  },
  {
    file: "genesis",
    title: "First start with a large genesis",
    lines: (rows) =>
      rows.map((row) => ({
        what: `${rounded(row["accounts"])} accounts, of which ${rounded(row["contracts"])} have code and slots`,
        ours: `${rounded(row["us an account"])} µs an account, ${rounded(row["cpu us an account"])} µs of CPU, ${rounded(row["peak MB"])} MB at most`,
      })),
  },
  { file: "state", title: "A large state", lines: stateLines },
];

/** Inputs of precompiles that take the most time for their gas. */
const DEAREST_PRECOMPILES = 16;

/** Series of blocks by the size of the state; where a series was measured at two sizes, ten times the larger one is predicted. */
function stateLines(rows: readonly Row[]): Line[] {
  const micros = (row: Row) => Number(row["trie us an account"]);
  const measured = rows.map((row) => ({
    what: `${rounded(row["accounts"])} accounts, ${row["series"]}`,
    ours: `${rounded(micros(row))} µs an account in the trie, append ${rounded(row["append p50 ms"])} ms, longest pause ${rounded(row["longest pause ms"])} ms`,
  }));
  const predicted = rows.flatMap((large) => {
    const small = rows.find(
      ({ series, accounts }) => series === large["series"] && Number(accounts) * 10 === Number(large["accounts"]),
    );
    if (small === undefined) return [];
    const accounts = rounded(Number(large["accounts"]) * 10);
    const expected = 2 * micros(large) - micros(small);
    return [
      {
        what: `${accounts} accounts, ${large["series"]}: predicted`,
        ours: `*${rounded(expected)} µs an account in the trie*`,
      },
    ];
  });
  return [...measured, ...predicted];
}

export async function run(): Promise<void> {
  const parts = TABLES.flatMap((table) => {
    const result = read(`${table.file}.json`);
    if (result === undefined) return [];
    const own = section(table, result, onOtherVersions(table));
    const throughput = table.file === "throughput" ? read<ThroughputResult>("throughput.json") : undefined;
    return throughput === undefined ? [own] : [own, threadSection(throughput), scalingSection(throughput)];
  });
  writeFileSync(PAGE, `${HEAD}\n${parts.join("\n")}`);
  console.log("docs/performance.md");
}

const HEAD = `# Performance

Written by \`npm run bench -- summary\` from the files of \`bench/results/\`. Each row compares nodes of one run on one machine: **above 1 means Evmint is better**. The tables are from different days, and machines with shared
cores vary by a tenth between runs. \`npm run bench -- NAME\` measures a table again.
`;

/** A column of a table: what was measured on another version of Node.js. */
type Column = { readonly major: string; readonly commit: string; readonly lines: readonly Line[] };

function onOtherVersions({ file, lines }: Table): readonly Column[] {
  return readdirSync(RESULTS)
    .sort()
    .flatMap((name) => {
      const major = name.startsWith(`${file}.node-`) ? /\.node-(\d+)\.json$/.exec(name)?.[1] : undefined;
      const result = major === undefined ? undefined : read(name);
      return result === undefined ? [] : [{ major: major!, commit: result.commit, lines: lines(result.rows) }];
    });
}

function section(
  { file, title, lines }: Table,
  { commit, node, cpu, cores, rows }: Result,
  columns: readonly Column[],
): string {
  const all = lines(rows);
  const behind = all.some(({ anvil = 1, geth = 1 }) => anvil < 1 || geth < 1);
  const others = (what: string) =>
    columns.map((column) => {
      const line = column.lines.find((each) => each.what === what);
      if (line === undefined) return "";
      if (line.anvil !== undefined) return `${line.ours}; ${ratio(line.anvil)}`;
      return line.geth === undefined ? line.ours : `${line.ours}; geth ${ratio(line.geth)}`;
    });
  const peers = (["anvil", "geth"] as const).filter((peer) => all.some((line) => line[peer] !== undefined));
  const head = [
    "",
    "ours",
    ...peers.map((peer) => `against ${peer}`),
    ...columns.map(({ major }) => `Node.js ${major}${peers.includes("anvil") ? "; against anvil" : ""}`),
  ];
  const measured = columns.map((column) => `; on Node.js ${column.major} commit ${column.commit}`).join("");
  return [
    `## ${title}`,
    "",
    `\`npm run bench -- ${file}\`, commit ${commit}, Node.js ${node.slice(1)}, ${cores} × ${cpu.trim()}${measured}.`,
    "",
    tableRow(head),
    tableRow(head.map(() => "---")),
    ...all.map((line) =>
      tableRow([line.what, line.ours, ...peers.map((peer) => ratio(line[peer])), ...others(line.what)]),
    ),
    "",
    ...(CONDITIONS[title] !== undefined ? [CONDITIONS[title], ""] : []),
    ...(behind && REASONS[title] !== undefined ? [`Below 1: ${REASONS[title]}`, ""] : []),
  ].join("\n");
}

/** Which thread and process the CPU of a transaction goes to. */
function threadSection({ rows }: ThroughputResult): string {
  const budgets = rows.flatMap(({ load, node, threads }) => (threads ? [{ load, node, threads }] : []));
  const columns = ["chain", "V8", "libuv", "threads", "RPC", "RPC serial", "total"] as const;
  return [
    "### CPU of a transaction by thread",
    "",
    "From the run above, in µs: the chain's thread, V8's own threads (garbage collection and compilation), libuv's, Evmint's threads, all RPC processes, and their main threads. " +
      "`evmint` is one process, `evmint 1` has one RPC process, `evmint rpc` as many as on a machine with more cores, and `evmint compiled` compiles contracts.",
    "",
    tableRow(["", "", ...columns]),
    tableRow(["---", "---", ...columns.map(() => "---")]),
    ...budgets.map(({ load, node, threads }) =>
      tableRow([load, node, ...columns.map((column) => rounded(threads[column]))]),
    ),
    "",
  ].join("\n");
}

/** What more cores give. */
function scalingSection({ scaling }: ThroughputResult): string {
  const loads = [...new Set(scaling.rows.map(({ load }) => load))];
  const cores = [...new Set(scaling.rows.map((each) => each.cores))].sort((a, b) => a - b);
  const cell = (load: string, count: number) => {
    const found = scaling.rows.find((each) => each.load === load && each.cores === count);
    if (found === undefined) return "";
    return found.kind === "measured" ? rounded(found["tx/s"]) : `*${rounded(found["tx/s"])}*`;
  };
  return [
    "### More cores",
    "",
    `Transactions per second with RPC processes: measured with CPU affinity, *predicted* in italics. Predictions are ${scaling.assumed}.`,
    "",
    tableRow(["", ...cores.map((count) => `${count} ${count === 1 ? "core" : "cores"}`)]),
    tableRow(["---", ...cores.map(() => "---")]),
    ...loads.map((load) => tableRow([load, ...cores.map((count) => cell(load, count))])),
    "",
  ].join("\n");
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function read<T = Result>(file: string): T | undefined {
  const url = new URL(file, RESULTS);
  return existsSync(url) ? (JSON.parse(readFileSync(url, "utf8")) as T) : undefined;
}

/** The things that `evmint` has a row about, each with how to find that of a peer, empty where it has none. */
function ofOurs(rows: readonly Row[], about: string) {
  return rows
    .filter(({ node }) => node === "evmint")
    .map((own) => ({
      what: String(own[about]),
      own,
      peer: (name: string): Row => rows.find((row) => row[about] === own[about] && row["node"] === name) ?? {},
    }));
}

/** How many times `b` fits in `a`. */
function times(a: Row, b: Row, column: string): number | undefined {
  const [left, right] = [numberOf(a[column]), numberOf(b[column])];
  return left === undefined || right === undefined ? undefined : left / right;
}

function numberOf(value: Row[string]): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function rounded(value: Row[string]): string {
  const number = Number(value);
  return number >= 100 ? Math.round(number).toLocaleString("en") : String(Number(number.toPrecision(3)));
}

function ratio(value: number | undefined): string {
  if (value === undefined) return "";
  return value < 1 ? `**${value.toFixed(2)}**` : value.toFixed(2);
}
