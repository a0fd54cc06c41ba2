import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The pages of the site in the order of its menu, as files of the repository. Every decision is a page of its own. */
export const MENU = [
  [
    "Get started",
    [
      "docs/index.md",
      "docs/guides/install.md",
      "docs/tutorial.md",
      "docs/testing.md",
      "docs/guides/wallets.md",
      "docs/console.md",
      "docs/explorer.md",
    ],
  ],
  [
    "Guides",
    [
      "docs/guides/log.md",
      "docs/guides/embed.md",
      "docs/guides/browser.md",
      "docs/guides/app-chain.md",
      "docs/guides/from-anvil.md",
      "docs/guides/from-dev-nodes.md",
      "docs/guides/coming-from.md",
      "docs/guides/journeys.md",
      "docs/security.md",
      "docs/guides/monitoring.md",
      "docs/guides/upgrade.md",
    ],
  ],
  [
    "Methods",
    [
      "docs/rpc/README.md",
      "docs/rpc/eth-chain.md",
      "docs/rpc/eth-state.md",
      "docs/rpc/eth-blocks.md",
      "docs/rpc/eth-transactions.md",
      "docs/rpc/eth-calls.md",
      "docs/rpc/eth-logs.md",
      "docs/rpc/wallet.md",
      "docs/rpc/dev-blocks.md",
      "docs/rpc/dev-accounts.md",
      "docs/rpc/debug-traces.md",
      "docs/rpc/trace.md",
      "docs/rpc/debug-data.md",
      "docs/rpc/debug-process.md",
      "docs/rpc/ots.md",
      "docs/rpc/erigon.md",
      "docs/rpc/personal.md",
      "docs/rpc/admin.md",
      "docs/rpc/clique.md",
      "docs/rpc/testing.md",
      "docs/rpc/les.md",
      "docs/rpc/shh.md",
      "docs/rpc/db.md",
    ],
  ],
  [
    "Operations",
    [
      "docs/operations/README.md",
      "docs/operations/commands.md",
      "docs/operations/sizing.md",
      "docs/operations/one-machine.md",
      "docs/operations/network.md",
      "docs/operations/sentries.md",
      "docs/operations/access.md",
      "docs/operations/keys.md",
      "docs/operations/machines.md",
      "docs/operations/upgrade-day.md",
      "docs/operations/lost-validators.md",
      "docs/operations/retention.md",
    ],
  ],
  [
    "Reference",
    [
      "docs/reference/settings.md",
      "docs/reference/metrics.md",
      "docs/reference/errors.md",
      "docs/compliance.md",
      "docs/field-reports.md",
      "docs/glossary.md",
    ],
  ],
  [
    "Internals",
    [
      "ARCHITECTURE.md",
      "CONTRIBUTING.md",
      "docs/acceptance.md",
      "docs/simulation.md",
      "docs/storm.md",
      "docs/processes-and-threads.md",
      "docs/caches.md",
      "docs/performance.md",
      "docs/adr/README.md",
      "CHANGELOG.md",
    ],
  ],
];

/** Every page by its file, those of the menu first. */
export function filesOf(root) {
  const decisions = readdirSync(join(root, "docs/adr")).filter((name) => /^\d.*\.md$/.test(name));
  return [...MENU.flatMap(([, files]) => files), ...decisions.sort().map((name) => `docs/adr/${name}`)];
}

/** Path of the page of `file`: `docs/guides/embed.md` is at `/docs/guides/embed/`. */
export function pathOf(file) {
  const name = file
    .replace(/^docs\//, "")
    .replace(/\.md$/, "")
    .toLowerCase();
  return name === "index" ? "/docs/" : `/docs/${name.replace(/\/readme$/, "")}/`;
}
