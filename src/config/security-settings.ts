import { option } from "./option.ts";
import { boolean, byteSize, duration, integer, list, text } from "./value-types.ts";

/** Who may call what. They belong to the table `json-rpc` and must follow its other settings. */
export const ACCESS_SETTINGS = {
  allowMethods: option("json-rpc.allow-methods", list, ["*"], {
    description: "Methods served over HTTP, of the namespaces in api: names, * for any text.",
  }),
  denyMethods: option("json-rpc.deny-methods", list, [], {
    description: "Methods not served over HTTP, even if allow-methods names them.",
  }),
  wsAllowMethods: option("json-rpc.ws-allow-methods", list, ["*"], {
    description: "As allow-methods, on the WebSocket port.",
  }),
  wsDenyMethods: option("json-rpc.ws-deny-methods", list, [], {
    description: "As deny-methods, on the WebSocket port.",
  }),
  // A program with the right secret sends no bad token, and one with a wrong clock sends nothing else.
  badTokensMax: option("json-rpc.bad-tokens-limit", integer(1), 10, {
    description: "Bad tokens from one address within a minute before it has to wait.",
  }),
  badTokenPauseMsMax: option("json-rpc.bad-token-pause", duration, 30_000, {
    description: "Longest wait after bad tokens; it begins with a second and doubles.",
  }),
} as const;

/** Settings with tables of their own. */
export const SECURITY_SETTINGS = {
  tls: {
    cert: option("tls.cert", text, "", {
      description:
        "Certificate chain (PEM) with which HTTP and WebSocket speak TLS, seen from the home; empty: no TLS.",
    }),
    key: option("tls.key", text, "", { description: "Private key (PEM) of that certificate." }),
  },
  /** The database of the `db` namespace. */
  dappDb: {
    nameBytesMax: option("db.name-limit", byteSize, 256, {
      description: "Size of the name of a database of db_putString and db_putHex.",
    }),
    keyBytesMax: option("db.key-limit", byteSize, 1024, { description: "Size of a key." }),
    valueBytesMax: option("db.value-limit", byteSize, 2 ** 20, {
      description: "Size of a value.",
    }),
    databaseBytesMax: option("db.database-limit", byteSize, 64 * 2 ** 20, {
      description: "Size of the keys and values of one database together.",
    }),
    databasesMax: option("db.databases-limit", integer(1), 64, {
      description: "Databases.",
    }),
  },
  files: {
    allowAbsolutePaths: option("debug.allow-absolute-paths", boolean, false, {
      description:
        "Let callers name files outside the home's debug folder in admin_exportChain and the like.",
    }),
  },
} as const;

/** Of the key store; they belong to its table. */
export const KEY_STORE_LIMITS = {
  passphraseTriesMax: option("keystore.passphrase-tries", integer(1), 5, {
    description: "Wrong passphrases a minute for one account; beyond it none is tried.",
  }),
  passphraseQueueMax: option("keystore.queue-limit", integer(1), 4, {
    description: "Passphrases that wait while another is tried; each takes a second.",
  }),
} as const;
