import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Address, checksumAddress } from "../../../base/primitives/address.ts";
import type { Verdict } from "../verify/verdict.ts";
import { clippedName, nodeContractAt, useContracts } from "./contracts/known-contracts.ts";
import { uploadedAt } from "./contracts/uploaded.ts";
import { shortHex } from "./format.ts";
import type { Loaded } from "./hooks.ts";
import { RpcError } from "./rpc.ts";
import { isAddress } from "./search-words.ts";

const COPIED_MS = 1200;

/** Copies `text`: besides comparing, the only use of a hash. */
export function Copy({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  async function copy() {
    await navigator.clipboard?.writeText(text);
    setCopied(true);
    setTimeout(setCopied, COPIED_MS, false);
  }
  return (
    <button type="button" class="copy" aria-label={`Copy ${text}`} onClick={() => void copy()}>
      {isCopied ? "✓" : <CopyIcon />}
    </button>
  );
}

function CopyIcon() {
  return (
    <svg width="11" height="11" viewBox="0 0 12 12" fill="none" stroke="currentColor" aria-hidden="true">
      <rect x="3.5" y="3.5" width="8" height="8" rx="1.5" />
      <path d="M8.5 1.5h-6a1 1 0 0 0-1 1v6" />
    </svg>
  );
}

/** A hash or address, linked to the page `to` if given. A chosen name precedes it, and never replaces it. */
export function HexText(props: {
  readonly value: string;
  readonly to?: string;
  readonly isWhole?: boolean;
  readonly name?: string | undefined;
  readonly nameTitle?: string | undefined;
}) {
  const { value, to, isWhole = false, name, nameTitle } = props;
  const text = (
    <>
      {name !== undefined && (
        <span class="name" title={nameTitle}>
          {clippedName(name)}
        </span>
      )}
      {isWhole ? value : shortHex(value)}
    </>
  );
  return (
    <span class={isWhole ? "hex whole" : "hex"}>
      {to === undefined ? (
        <span title={value}>{text}</span>
      ) : (
        <a href={`#${to}`} title={value}>
          {text}
        </a>
      )}
      <Copy text={value} />
    </span>
  );
}

const checksummed = new Map<string, string>();

/** The form that wallets show (EIP-55); returns other text unchanged. */
export function shownAddress(value: string): string {
  let shown = checksummed.get(value);
  if (shown === undefined) {
    shown = isAddress(value) ? checksumAddress(value.toLowerCase() as Address) : value;
    checksummed.set(value, shown);
  }
  return shown;
}

const ORIGINS = {
  uploaded: "named by what was uploaded in this browser",
  verified: "named by sources that this node has compiled",
  artifacts: "named by the artifacts of this node’s project",
} as const;

/** An address with the name of its contract, if known. */
export function AddressText(props: {
  readonly value: string;
  readonly isWhole?: boolean;
  readonly name?: string | undefined;
}) {
  const { value, isWhole = false, name } = props;
  useContracts([value]);
  const uploaded = uploadedAt(value);
  const contract = uploaded ?? nodeContractAt(value);
  const origin = uploaded === undefined ? nodeContractAt(value)?.origin : "uploaded";
  return (
    <HexText
      value={shownAddress(value)}
      to={`/address/${value.toLowerCase()}`}
      isWhole={isWhole}
      name={name ?? contract?.name}
      nameTitle={name === undefined && origin !== undefined ? ORIGINS[origin] : undefined}
    />
  );
}

const MARKS = {
  verified: { sign: "✓", label: "proven" },
  false: { sign: "✗", label: "false" },
  unverified: { sign: "○", label: "not proven" },
  checking: { sign: "…", label: "checking" },
} as const;

/** Whether the value next to it is verified; undefined during the check. */
export function Mark({ verdict, what }: { verdict: Verdict | undefined; what: string }) {
  const kind = verdict?.kind ?? "checking";
  const { sign, label } = MARKS[kind];
  const reason = verdict === undefined || verdict.kind === "verified" ? "" : verdict.reason;
  return (
    <span class={`mark ${kind}`} data-what={what} data-kind={kind} title={`${what}: ${label}. ${reason}`}>
      <span aria-hidden="true">{sign}</span> {label}
      {kind === "false" && <span class="reason">{reason}</span>}
    </span>
  );
}

type PanelHead = {
  readonly title: string;
  /** Beside the title, muted. */
  readonly note?: string;
  readonly aside?: ComponentChildren;
};

export function Panel({ title, note, aside, children }: PanelHead & { readonly children: ComponentChildren }) {
  return (
    <section class="panel">
      <header>
        <h2>{title}</h2>
        {note === undefined ? aside : <span class="muted">{note}</span>}
      </header>
      {children}
    </section>
  );
}

/** A panel that shows a loaded value as `When` does. */
export function LoadedPanel<T>(
  props: PanelHead & { readonly loaded: Loaded<T>; readonly show: (value: T) => ComponentChildren },
) {
  const { loaded, show, ...head } = props;
  return (
    <Panel {...head}>
      <When loaded={loaded} show={show} />
    </Panel>
  );
}

/** Buttons to page through a list of `size` items per page. */
export function PageButtons(props: {
  readonly page: number;
  readonly size: number;
  readonly total: number;
  readonly open: (page: number) => void;
}) {
  const { page, size, total, open } = props;
  return (
    <div class="inline">
      {page > 0 && (
        <button type="button" onClick={() => open(page - 1)}>
          Newer
        </button>
      )}
      {(page + 1) * size < total && (
        <button type="button" onClick={() => open(page + 1)}>
          Older
        </button>
      )}
    </div>
  );
}

/** Names and values, one pair per line. */
export function Fields({ rows }: { rows: readonly (readonly [string, ComponentChildren] | false)[] }) {
  return (
    <dl class="fields">
      {rows.map(
        (row) =>
          row && (
            <div key={row[0]}>
              <dt>{row[0]}</dt>
              <dd>{row[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** A table that scrolls sideways on narrow screens. */
export function Table(props: {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  readonly numeric?: readonly number[];
}) {
  const classOf = (index: number) => (props.numeric?.includes(index) ? "number" : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label={props.label}>
      <table>
        <thead>
          <tr>
            {props.head.map((name, index) => (
              <th key={name} scope="col" class={classOf(index)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, index) => (
                <td key={index} class={classOf(index)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {props.rows.length === 0 && <p class="empty">None.</p>}
    </section>
  );
}

/** Links to parts of a page, with the open one marked. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly (readonly [route: string, name: string])[];
  readonly open: string;
}) {
  return (
    <nav class="tabs" aria-label={props.label}>
      {props.tabs.map(([route, name]) => (
        <a key={route} href={`#${route}`} aria-current={route === props.open ? "page" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

/** A page that cannot be shown, and the reason in one sentence. */
export function Problem({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <>
      <h1>{title}</h1>
      <p class="empty" role="status">
        {text}
      </p>
    </>
  );
}

/** Shows a loaded value with `show`, its failure, or that it is loading. */
export function When<T>({ loaded, show }: { loaded: Loaded<T>; show: (value: T) => ComponentChildren }) {
  if (loaded.kind === "loading") return <p class="empty">Loading …</p>;
  if (loaded.kind === "failed") return <Failure error={loaded.error} />;
  return <>{show(loaded.value)}</>;
}

export function Failure({ error }: { error: unknown }) {
  const text = messageOf(error);
  const isForbidden = error instanceof RpcError && error.isForbidden;
  return (
    <p class="empty" role="status">
      {isForbidden ? `Not open to this page: ${text}` : text}
    </p>
  );
}

/** Wallets throw plain objects too (EIP-1193). */
function messageOf(error: unknown): string {
  const { message } = Object(error) as { readonly message?: unknown };
  return typeof message === "string" ? message : String(error);
}
