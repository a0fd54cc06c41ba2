import { type Address, parseAddress } from "../../base/primitives/address.ts";
import { isJsonObject } from "../../base/primitives/shape.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { readJsonFile } from "../../store/storage/read-file.ts";
import { invalidSetting } from "./errors.ts";
import { CONFIG_FILE_BYTES_MAX } from "./home.ts";
import { WatchedFiles } from "./watched-files.ts";

/** Accounts that are allowed; "all": every account. */
type Allowed = ReadonlySet<Address> | "all";

type Permissions = { readonly send: Allowed; readonly deploy: Allowed };

/** Members of the file; a missing one allows all accounts. */
const KINDS = ["send", "deploy"] as const satisfies readonly (keyof Permissions)[];
/** A file of 10 MB. */
const ACCOUNTS_MAX = 200_000;

/**
 * Who may send transactions to this node's pool, and who may create contracts with them: `{"send": ["0x…"], "deploy": ["0x…"]}`. The file is
 * reloaded within a second of a change; while it is unreadable, no account may.
 */
export class AccountPermissions {
  readonly #file: WatchedFiles<Permissions>;

  /** @throws InvalidConfigError */
  constructor(path: string, { log, timers }: { readonly log: Logger; readonly timers: Pick<Timers, "now"> }) {
    this.#file = new WatchedFiles({
      timers,
      paths: [path],
      read: () => readPermissions(path),
      onFault: (error) => log.error("rejecting all transactions: mempool.allowed-accounts cannot be read", { error }),
    });
  }

  maySend(sender: Address): boolean {
    return includes(this.#file.value?.send, sender);
  }

  mayDeploy(sender: Address): boolean {
    return includes(this.#file.value?.deploy, sender);
  }
}

function includes(allowed: Allowed | undefined, sender: Address): boolean {
  return allowed === "all" || (allowed?.has(sender) ?? false);
}

/** @throws InvalidConfigError */
function readPermissions(path: string): Permissions {
  const invalid = (reason: string, cause?: unknown) =>
    invalidSetting("mempool.allowed-accounts", `${path} ${reason}`, { cause });
  let value: unknown;
  try {
    value = readJsonFile(path, { bytesMax: CONFIG_FILE_BYTES_MAX });
  } catch (cause) {
    throw invalid(`cannot be read as JSON: ${(cause as Error).message}`, cause);
  }
  if (!isJsonObject(value)) throw invalid("is not a JSON object");
  const members = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(members).find((name) => !(KINDS as readonly string[]).includes(name));
  if (unknown !== undefined) throw invalid(`has the unknown key "${unknown}"; the keys are "send" and "deploy"`);
  const allowed = (kind: keyof Permissions): Allowed => {
    const list = members[kind];
    if (list === undefined) return "all";
    if (!Array.isArray(list) || list.length > ACCOUNTS_MAX)
      throw invalid(`: "${kind}" is not a list of at most ${ACCOUNTS_MAX}`);
    return new Set(
      list.map((text: unknown, index) => {
        if (typeof text !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(text)) {
          throw invalid(`: entry ${index} of "${kind}" is not an address`);
        }
        return parseAddress(text);
      }),
    );
  };
  return { send: allowed("send"), deploy: allowed("deploy") };
}
