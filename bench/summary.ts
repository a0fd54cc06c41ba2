/**
 * `npm run bench -- summary`: writes `docs/performance.md` from `bench/results/`. Measures nothing: each table says the commit and the machine that its
 * figures are of. A ratio above 1 is in our favour, whatever is compared.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

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
/** One line of the page: what was measured, our figure, and how many times as much the peers need, or we do. */
type Line = {
  readonly what: string;
  readonly ours: string;
  readonly anvil?: number | undefined;
  readonly geth?: number | undefined;
};
type Table = { readonly file: string; readonly title: string; lines(rows: readonly Row[]): readonly Line[] };

/** Reasons for the rows in which anvil needs less, by title of the table. */
const REASONS: Readonly<Record<string, string>> = {
  "Sequential transactions":
    "Each transaction is answered after its block is synced to the disk, which anvil has in memory alone; and V8 compiles in the first hundreds what anvil's binary has compiled.",
  "A suite of 200 tests": "The same: most of such a suite is the first run of each function.",
  "Start to the first answer": "Node.js itself takes some 40 ms, and the bundle is read and checked.",
  "Requests a second":
    "One thread of ours answers, where anvil answers on both cores: what is left of a short answer is the writing to sockets.",
  "Sustained transactions":
    "Ours are in a log on the disk, anvil's in memory. Instant blocks of anvil lose most of this load, so there is no ratio.",
};

const TABLES: readonly Table[] = [
  {
    file: "throughput",
    title: "Sustained transactions",
    lines: (rows) =>
      ofOurs(rows, "load").map(({ what, own, peer }) => {
        const cpu = (name: string) => (peer(name)["lost"] === 0 ? times(peer(name), own, "CPU us/tx") : undefined);
        return {
          what,
          ours: `${rounded(own["tx/s"])} tx/s, ${rounded(own["CPU us/tx"])} µs CPU`,
          anvil: cpu("anvil"),
          geth: cpu("geth"),
        };
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
        geth: numberOf(row["CPU of geth / ours"]),
      })),
  },
  {
    file: "chain-files",
    title: "Import and reindex",
    lines: (rows) =>
      ofOurs(rows, "work").map(({ what, own, peer }) => ({
        what,
        ours: `${rounded(own["tx/s"])} tx/s`,
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
];

export async function run(): Promise<void> {
  const parts = TABLES.flatMap((table) => {
    const result = read(table.file);
    return result === undefined ? [] : [section(table, result)];
  });
  writeFileSync(PAGE, `${HEAD}\n${parts.join("\n")}`);
  console.log("docs/performance.md");
}

const HEAD = `# Performance

Written by \`npm run bench -- summary\` from the files of \`bench/results/\`. Each row compares nodes of one run on one machine: **above 1 is in our favour**. The tables are of different days, and machines with shared
cores differ by a tenth from run to run. \`npm run bench -- NAME\` measures a table again.
`;

function section({ file, title, lines }: Table, { commit, node, cpu, cores, rows }: Result): string {
  const all = lines(rows);
  const behind = all.some(({ anvil = 1 }) => anvil < 1);
  const text = all.map((line) => `| ${line.what} | ${line.ours} | ${ratio(line.anvil)} | ${ratio(line.geth)} |`);
  return [
    `## ${title}`,
    "",
    `\`npm run bench -- ${file}\`, commit ${commit}, Node.js ${node.slice(1)}, ${cores} × ${cpu.trim()}.`,
    "",
    "| | ours | against anvil | against geth |",
    "|---|---|---|---|",
    ...text,
    "",
    ...(behind && REASONS[title] !== undefined ? [`Below 1: ${REASONS[title]}`, ""] : []),
  ].join("\n");
}

function read(file: string): Result | undefined {
  const url = new URL(`${file}.json`, RESULTS);
  return existsSync(url) ? (JSON.parse(readFileSync(url, "utf8")) as Result) : undefined;
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
