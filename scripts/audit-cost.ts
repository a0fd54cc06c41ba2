/**
 * `npm run audit:cost -- [--seed N] [part of a name …]`: looks for the request of each method and route that holds the chain's
 * thread longest, and writes bench/results/cost.json. Those above their budget are printed last.
 */
import { audit } from "../bench/cost/audit.ts";
import { printTable, updateResult } from "../bench/support/report.ts";

const args = process.argv.slice(2);
const at = args.indexOf("--seed");
const seed = at < 0 ? 1 : Number(args.splice(at, 2)[1]);
const line = ({
  name,
  longestMs,
  budgetMs,
  cpuMs,
  requestBytes,
  answerBytes,
  grownBytes,
}: Awaited<ReturnType<typeof audit>>[number]) => ({
  name,
  "longest ms": longestMs,
  "budget ms": budgetMs,
  "CPU ms": cpuMs,
  "request bytes": requestBytes,
  "answer bytes": answerBytes,
  "memory MB": grownBytes / 2 ** 20,
});
const rows = await audit({
  parts: args,
  seed,
  onRow: (row) => {
    updateResult("cost", [{ ...line(row), input: row.input }], ({ name }) => name);
    if (row.longestMs > row.budgetMs)
      console.log(
        `${row.name}: ${row.longestMs.toFixed(1)} ms, ${row.requestBytes} bytes: ${row.input} -> ${row.answer}`,
      );
  },
});
const sorted = [...rows].sort((a, b) => b.longestMs / b.budgetMs - a.longestMs / a.budgetMs);
printTable(sorted.map(line));
const above = sorted.filter(({ longestMs, budgetMs }) => longestMs > budgetMs);
console.log(`${rows.length} looked at, ${above.length} above their budget`);
