import { useEffect, useRef, useState } from "preact/hooks";
import { toQuantity } from "../../../../base/primitives/quantity.ts";
import type { Chart, ChartData } from "../chart.ts";
import { age, count, gwei, percent, percentText } from "../format.ts";
import { loadedValue, useHead, useLoaded } from "../hooks.ts";
import { listTransactions } from "../listed-transactions.ts";
import { BlockTable, TransactionTable } from "../lists.tsx";
import { Panel, When } from "../parts.tsx";
import { type Block, call, callIfOpen } from "../rpc.ts";

/** Blocks of the chart. */
const CHART_BLOCKS = 60;
/** Blocks in the list; their transactions are listed beside it. */
const LISTED = 12;

const UNCHECKED = <span class="muted">as the node says; open one to check it</span>;

/** Live: the newest blocks and transactions, gas, base fee, throughput, the pool. */
export function HomePage() {
  const { head, isLost } = useHead();
  const blocks = useRecentBlocks(head);
  const pool = useLoaded(() => callIfOpen<{ pending: string; queued: string }>("txpool_status"), [head?.hash]);
  const newest = [...blocks]
    .reverse()
    .flatMap((block) => [...(block.transactions as readonly string[])].reverse().map((hash) => ({ hash, block })))
    .slice(0, LISTED);
  const transactions = useLoaded(() => listTransactions(newest), [newest.map(({ hash }) => hash).join()]);
  if (head === undefined) {
    return <p class="empty">{isLost ? "The node does not answer." : "Loading …"}</p>;
  }
  const listed = blocks.slice(-LISTED).reverse();
  const status = loadedValue(pool);
  return (
    <>
      <div class="tiles">
        <Tile name="Block" value={count(head.number)} />
        <Tile name="Last block" value={isLost ? "node is not answering" : age(head.timestamp)} />
        <Tile name="Base fee" value={gwei(head.baseFeePerGas ?? "0x0")} />
        <Tile name="Gas used" value={percentText(head.gasUsed, head.gasLimit)} />
        <Tile name="Transactions a second" value={throughput(blocks)} />
        <Tile
          name="Pool"
          to={status && "/pool"}
          value={status ? `${count(status.pending)} pending, ${count(status.queued)} queued` : "not open"}
        />
      </div>
      <Panel title="Gas and base fee" aside={<Legend />}>
        <BlockChart blocks={blocks} />
      </Panel>
      <div class="columns">
        <Panel title="Blocks" aside={UNCHECKED}>
          <BlockTable label="Newest blocks" blocks={listed} />
          <p class="empty">
            <a href="#/blocks">All blocks</a>
          </p>
        </Panel>
        <Panel title="Transactions" aside={UNCHECKED}>
          <When
            loaded={transactions}
            show={(rows) =>
              rows.length === 0 ? (
                <p class="empty">None in the last {count(blocks.length)} blocks.</p>
              ) : (
                <TransactionTable label="Newest transactions" rows={rows} isNarrow />
              )
            }
          />
          <p class="empty">
            <a href="#/txs">All transactions</a>
          </p>
        </Panel>
      </div>
    </>
  );
}

function Tile({ name, value, to }: { name: string; value: string; to?: string | undefined }) {
  return (
    <div class="tile">
      <div class="muted">{name}</div>
      <div class="value">{to === undefined ? value : <a href={`#${to}`}>{value}</a>}</div>
    </div>
  );
}

function Legend() {
  return (
    <span class="legend muted">
      <i class="bar" /> gas used, % of the limit <i class="fee" /> base fee, gwei
    </span>
  );
}

/** The last blocks up to `head`, oldest first; each is requested once. */
function useRecentBlocks(head: Block | undefined): readonly Block[] {
  const [blocks, setBlocks] = useState<readonly Block[]>([]);
  useEffect(() => {
    if (head === undefined) return;
    let isCurrent = true;
    const last = Number(head.number);
    setBlocks((known) => (known.length === 0 ? [head] : known));
    void fill();
    async function fill() {
      const byNumber = new Map(blocks.map((block) => [Number(block.number), block]));
      const parent = byNumber.get(last - 1);
      // After a reorganisation, no known block is certainly part of the chain.
      if (parent !== undefined && parent.hash !== head!.parentHash) byNumber.clear();
      byNumber.set(last, head!);
      const first = Math.max(0, last - CHART_BLOCKS + 1);
      const numbers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
      const filled = await Promise.all(
        numbers.map(
          (number) => byNumber.get(number) ?? call<Block | null>("eth_getBlockByNumber", toQuantity(number), false),
        ),
      );
      if (isCurrent) setBlocks(filled.filter((block) => block !== null));
    }
    return () => {
      isCurrent = false;
    };
  }, [head?.hash]);
  return blocks;
}

/** Transactions per second between the first and the last of `blocks`. */
function throughput(blocks: readonly Block[]): string {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return "–";
  const seconds = Number(last.timestamp) - Number(first.timestamp);
  const transactions = blocks.slice(1).reduce((sum, block) => sum + block.transactions.length, 0);
  return seconds === 0 ? "–" : (transactions / seconds).toFixed(2);
}

function BlockChart({ blocks }: { blocks: readonly Block[] }) {
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart>(undefined);
  const latest = useRef<ChartData>(dataOf(blocks));
  latest.current = dataOf(blocks);
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    let isCurrent = true;
    async function draw() {
      const { drawChart } = await import("../chart.ts");
      if (!isCurrent || element.current === null) return;
      chart.current?.destroy();
      chart.current = drawChart(element.current, latest.current);
    }
    const redraw = () => void draw();
    redraw();
    scheme.addEventListener("change", redraw);
    return () => {
      isCurrent = false;
      scheme.removeEventListener("change", redraw);
      chart.current?.destroy();
    };
  }, []);
  useEffect(() => chart.current?.update(latest.current), [blocks]);
  const last = blocks.at(-1);
  const label = `Gas used and base fee of the last ${blocks.length} blocks${last ? ` up to ${Number(last.number)}` : ""}`;
  return <div class="chart" ref={element} role="img" aria-label={label} />;
}

function dataOf(blocks: readonly Block[]): ChartData {
  return {
    numbers: blocks.map(({ number }) => Number(number)),
    gasUsed: blocks.map(({ gasUsed, gasLimit }) => percent(gasUsed, gasLimit)),
    baseFee: blocks.map(({ baseFeePerGas = "0x0" }) => Number(baseFeePerGas) / 1e9),
  };
}
