import { checksumAddress } from "../../base/primitives/address.ts";
import { escapeControls } from "../../base/telemetry/escape-controls.ts";
import type { Config } from "../../node/config/config.ts";
import { DEV_BALANCE } from "../../node/keystore/dev-accounts.ts";
import type { RunningNode } from "../../node/roles/types.ts";

/**
 * What a started node prints in the form of anvil's: scripts look for its headings, and for `Listening on HOST:PORT`, after which they call.
 * @param version of this program
 */
export function renderAnvilBanner({ chain, listeners }: RunningNode, { devChain }: Config, version: string): string {
  const { devAccounts, devWallet, first, fork, chainId } = chain;
  const balance = ether(devChain.balance ?? DEV_BALANCE);
  const accounts = devAccounts.map(({ address }, i) => `(${i}) ${checksumAddress(address)} (${balance} ETH)`);
  const sections = [
    section("Available Accounts", ["", ...accounts]),
    section("Private Keys", ["", ...devAccounts.map(({ privateKey }, i) => `(${i}) ${privateKey}`)]),
    section("Wallet", [`Mnemonic:          ${devWallet.phrase}`, `Derivation path:   ${devWallet.path}/`, ""]),
    ...(fork === undefined
      ? []
      : [
          section("Fork", [
            `Endpoint:       ${fork.url ?? "none is asked"}`,
            `Block number:   ${fork.number}`,
            `Block hash:     ${fork.hash}`,
            `Chain ID:       ${chainId}`,
          ]),
        ]),
    section("Chain ID", ["", `${chainId}`]),
    section("Base Fee", ["", `${first.baseFeePerGas}`]),
    section("Gas Limit", ["", `${first.gasLimit}`]),
    section("Genesis Timestamp", ["", `${first.timestamp}`]),
    section("Genesis Number", ["", `${first.number}`]),
  ];
  const http = listeners.find(({ kind }) => kind === "http");
  const title = `\n    Evmint ${version}, with the flags of anvil\n    WARNING: these keys are public. Use them only on this chain.\n`;
  return escapeTexts(
    `${title}\n${sections.join("\n")}\n${http === undefined ? "" : `Listening on ${new URL(http.url).host}\n`}`,
  );
}

function section(title: string, lines: readonly string[]): string {
  return `${title}\n==================\n${lines.join("\n")}\n`;
}

/** With the 18 digits that anvil prints. */
function ether(wei: bigint): string {
  return `${wei / 10n ** 18n}.${(wei % 10n ** 18n).toString().padStart(18, "0")}`;
}

/** A phrase or an address of a node can have come from anywhere. */
function escapeTexts(text: string): string {
  return text.split("\n").map(escapeControls).join("\n");
}
