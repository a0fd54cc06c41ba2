import { type Argument, contractAt, decodeLog } from "./contracts.ts";
import { AddressText, HexText, Table } from "./parts.tsx";
import type { Log } from "./rpc.ts";

/** Arguments of a call or an event, one a line. */
export function Arguments({ args }: { readonly args: readonly Argument[] }) {
  if (args.length === 0) return null;
  return (
    <Table
      label="Arguments"
      head={["Name", "Type", "Value"]}
      rows={args.map(({ name, type, text }) => [
        name,
        <span key="type" class="muted">
          {type}
        </span>,
        type === "address" ? (
          <AddressText key="value" value={text.toLowerCase()} isWhole />
        ) : (
          <code key="value">{text}</code>
        ),
      ])}
    />
  );
}

export function Logs({ logs }: { readonly logs: readonly Log[] }) {
  if (logs.length === 0) return <p class="empty">None.</p>;
  return (
    <ol class="logs">
      {logs.map((log) => (
        <li key={log.logIndex}>
          <LogView log={log} />
        </li>
      ))}
    </ol>
  );
}

function LogView({ log }: { log: Log }) {
  const decoded = decodeLog(log);
  const name = contractAt(log.address)?.name;
  return (
    <>
      <div class="line">
        <span class="muted">#{Number(log.logIndex)}</span>
        <b>{decoded?.name ?? "unknown event"}</b>
        <HexText value={log.address} to={`/address/${log.address}`} name={name} />
      </div>
      {decoded ? (
        <Arguments args={decoded.args} />
      ) : (
        <pre>{[...log.topics, log.data].join("\n")}</pre>
      )}
    </>
  );
}
