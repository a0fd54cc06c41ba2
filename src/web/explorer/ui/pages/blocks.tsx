import { toQuantity } from "../../../../base/primitives/quantity.ts";
import { count } from "../format.ts";
import { useLoaded } from "../hooks.ts";
import { BlockTable } from "../lists.tsx";
import { LoadedPanel } from "../parts.tsx";
import { type Block, call } from "../rpc.ts";

const PAGE_SIZE = 25;

type BlockPage = { readonly blocks: readonly Block[]; readonly newest: number };

/** @param last of the page; undefined: the newest block */
async function loadBlocks(last: number | undefined): Promise<BlockPage> {
  const head = await call<Block>("eth_getBlockByNumber", "latest", false);
  const newest = Number(head.number);
  const from = Math.min(last ?? newest, newest);
  const numbers = Array.from({ length: Math.min(PAGE_SIZE, from + 1) }, (_, i) => from - i);
  const blocks = await Promise.all(
    numbers.map((number) => call<Block | null>("eth_getBlockByNumber", toQuantity(number), false)),
  );
  return { blocks: blocks.filter((block) => block !== null), newest };
}

/** All blocks, from the newest or from `last` down to block 0, in pages. */
export function BlocksPage({ last }: { readonly last: string }) {
  const loaded = useLoaded(() => loadBlocks(/^\d{1,15}$/.test(last) ? Number(last) : undefined), [last]);
  return (
    <>
      <h1>Blocks</h1>
      <LoadedPanel
        title="Blocks"
        note="as the node says; open one to check it"
        loaded={loaded}
        show={({ blocks, newest }) => (
          <>
            <BlockTable label="Blocks" blocks={blocks} />
            <Steps blocks={blocks} newest={newest} />
          </>
        )}
      />
    </>
  );
}

function Steps({ blocks, newest }: BlockPage) {
  const top = Number(blocks[0]?.number ?? 0);
  const bottom = Number(blocks.at(-1)?.number ?? 0);
  return (
    <nav class="pages" aria-label="Pages of blocks">
      {top < newest && <a href="#/blocks">Newest</a>}
      {top < newest && <a href={`#/blocks/${Math.min(newest, top + PAGE_SIZE)}`}>← Newer</a>}
      <span class="muted">
        {count(top)} to {count(bottom)} of {count(newest)}
      </span>
      {bottom > 0 && <a href={`#/blocks/${bottom - 1}`}>Older →</a>}
      {bottom > 0 && <a href={`#/blocks/${Math.min(PAGE_SIZE - 1, newest)}`}>Oldest</a>}
    </nav>
  );
}
