import { type ComponentChildren, h, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { devChain } from "./dev-chain.ts";
import { escapeTexts } from "./escape-texts.ts";
import { loadedValue, useLoaded, useRoute } from "./hooks.ts";
import { HomePage } from "./pages/home.tsx";
import { When } from "./parts.tsx";
import { callIfOpen } from "./rpc.ts";
import { routeOf } from "./search.ts";

const LINKS = [
  ["/", "Home"],
  ["/blocks", "Blocks"],
  ["/txs", "Transactions"],
  ["/tokens", "Tokens"],
  ["/pool", "Pool"],
] as const;
/** A dev chain has one validator and no peers, and its user trusts it. */
const DEV_LINKS = [["/dev", "Dev"]] as const;
const NETWORK_LINKS = [
  ["/validators", "Validators"],
  ["/peers", "Peers"],
  ["/trust", "Trust"],
] as const;

/** The parts of a route: `/address/0x…/events`. All parts of a page share one component, which stays when the user switches between them. */
function partsOf(route: string): readonly [name: string, id: string, part: string] {
  const [, name = "", id = "", part = ""] = route.split("/");
  return [name, id, part];
}

function App() {
  const route = useRoute();
  const dev = useChainFacts();
  const [name, id] = partsOf(route);
  useEffect(() => {
    document.title = `${name === "" ? "Home" : `${name} ${id}`} · Explorer`;
    scrollTo(0, 0);
  }, [name, id]);
  const links = [...LINKS, ...(dev === undefined ? [] : dev.isDev ? DEV_LINKS : NETWORK_LINKS)];
  return (
    <>
      <header class="top">
        <a class="brand" href="#/">
          Explorer
        </a>
        {dev?.chainId !== undefined && (
          <span class="chain muted">
            {dev.isDev ? "dev chain" : "chain"} {dev.chainId}
          </span>
        )}
        <Search />
        <nav aria-label="Pages">
          {links.map(([path, name]) => (
            <a key={path} href={`#${path}`} aria-current={`/${partsOf(route)[0]}` === path ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
      </header>
      <main>
        <Page key={`${name}/${id}`} route={route} />
      </main>
      <Footer facts={dev} />
    </>
  );
}

type ChainFacts = { readonly isDev: boolean; readonly chainId: number | undefined };

/** undefined until the node has answered, so that nothing jumps. */
function useChainFacts(): ChainFacts | undefined {
  const loaded = useLoaded(async () => {
    const [dev, id] = await Promise.all([devChain().catch(() => undefined), callIfOpen<string>("eth_chainId")]);
    return { isDev: dev !== undefined, chainId: id === undefined ? undefined : Number(id) };
  }, []);
  return loadedValue(loaded);
}

function Footer({ facts }: { readonly facts: ChainFacts | undefined }) {
  return (
    <footer>
      {facts?.chainId !== undefined && <>Chain {facts.chainId}. </>}
      {facts?.isDev && (
        <>
          <a href="/">This node</a>: its addresses and documentation.{" "}
        </>
      )}
      Marks are computed in this browser: <a href="#/trust">what they mean</a>.
    </footer>
  );
}

/** Pages by the first part of their route. They are loaded on first use, since they need most of the code. */
const PAGES: Readonly<Record<string, (id: string, part: string) => Promise<ComponentChildren>>> = {
  block: async (id) => h((await import("./pages/block.tsx")).BlockPage, { id }),
  tx: async (hash) => h((await import("./pages/transaction.tsx")).TransactionPage, { hash }),
  address: async (address, tab) => h((await import("./pages/account.tsx")).AccountPage, { address, tab }),
  blocks: async (last) => h((await import("./pages/blocks.tsx")).BlocksPage, { last }),
  txs: async (block, index) => h((await import("./pages/transactions.tsx")).TransactionsPage, { block, index }),
  tokens: async () => h((await import("./pages/tokens.tsx")).TokensPage, {}),
  token: async (token, tab) => h((await import("./pages/token.tsx")).TokenPage, { token, tab }),
  pool: async () => h((await import("./pages/pool.tsx")).PoolPage, {}),
  search: async (word) => h((await import("./pages/search.tsx")).SearchPage, { word }),
  dev: async () => h((await import("./pages/dev.tsx")).DevPage, {}),
  validators: async () => h((await import("./pages/validators.tsx")).ValidatorsPage, {}),
  peers: async () => h((await import("./pages/peers.tsx")).PeersPage, {}),
  trust: async () => h((await import("./pages/trust.tsx")).TrustPage, {}),
};

function Page({ route }: { route: string }): ComponentChildren {
  const [name, id, part] = partsOf(route);
  const open = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined;
  const loaded = useLoaded(async () => open?.(id, part) ?? <p class="empty">There is no such page.</p>, [route]);
  if (name === "") return <HomePage />;
  return <When loaded={loaded} show={(page) => page} />;
}

function Search() {
  const [text, setText] = useState("");
  const [isUnknown, setUnknown] = useState(false);
  async function search(event: Event) {
    event.preventDefault();
    const route = await routeOf(text).catch(() => undefined);
    setUnknown(route === undefined);
    if (route !== undefined) {
      setText("");
      location.hash = route;
    }
  }
  return (
    <search class="search">
      <form onSubmit={(event) => void search(event)}>
        <input
          type="search"
          aria-label="Search by block, transaction, address, contract or token"
          placeholder="Block, address, name …"
          value={text}
          aria-invalid={isUnknown}
          spellcheck={false}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setUnknown(false);
          }}
        />
        {isUnknown && <span role="status">The node has nothing of this name or hash.</span>}
      </form>
    </search>
  );
}

escapeTexts();
render(<App />, document.getElementById("app")!);
