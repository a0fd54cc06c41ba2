import { type ComponentChildren, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { escapeTexts } from "./escape-texts.ts";
import { useLoaded, useRoute } from "./hooks.ts";
import { HomePage } from "./pages/home.tsx";
import { When } from "./parts.tsx";
import { call } from "./rpc.ts";
import { routeOf } from "./search.ts";

const LINKS = [
  ["/", "Home"],
  ["/validators", "Validators"],
  ["/peers", "Peers"],
  ["/trust", "Trust"],
] as const;

function App() {
  const route = useRoute();
  useEffect(() => {
    const [, name = "", id = ""] = route.split("/");
    document.title = `${name === "" ? "Home" : `${name} ${id}`} · Explorer`;
    scrollTo(0, 0);
  }, [route]);
  return (
    <>
      <header class="top">
        <a class="brand" href="#/">
          Explorer
        </a>
        <Search />
        <nav aria-label="Pages">
          {LINKS.map(([path, name]) => (
            <a key={path} href={`#${path}`} aria-current={route === path ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
      </header>
      <main>
        <Page key={route} route={route} />
      </main>
      <Footer />
    </>
  );
}

function Footer() {
  const chain = useLoaded(() => call<string>("eth_chainId"), []);
  return (
    <footer>
      {chain.kind === "ready" && <>Chain {Number(chain.value)}. </>}
      Marks are computed in this browser: <a href="#/trust">what they mean</a>.
    </footer>
  );
}

/** Pages that are loaded when they are opened first: what they need is most of the code. */
function Page({ route }: { route: string }): ComponentChildren {
  const [, name = "", id = ""] = route.split("/");
  const loaded = useLoaded(async () => {
    switch (name) {
      case "block": {
        const { BlockPage } = await import("./pages/block.tsx");
        return <BlockPage id={id} />;
      }
      case "tx": {
        const { TransactionPage } = await import("./pages/transaction.tsx");
        return <TransactionPage hash={id} />;
      }
      case "address": {
        const { AccountPage } = await import("./pages/account.tsx");
        return <AccountPage address={id} />;
      }
      case "validators": {
        const { ValidatorsPage } = await import("./pages/validators.tsx");
        return <ValidatorsPage />;
      }
      case "peers": {
        const { PeersPage } = await import("./pages/peers.tsx");
        return <PeersPage />;
      }
      case "trust": {
        const { TrustPage } = await import("./pages/trust.tsx");
        return <TrustPage />;
      }
      default:
        return <p class="empty">There is no such page.</p>;
    }
  }, [route]);
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
          aria-label="Search by block, transaction, address or contract"
          placeholder="Block, transaction, address, contract"
          value={text}
          aria-invalid={isUnknown}
          spellcheck={false}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setUnknown(false);
          }}
        />
        {isUnknown && <span role="status">Nothing has this name here.</span>}
      </form>
    </search>
  );
}

escapeTexts();
render(<App />, document.getElementById("app")!);
