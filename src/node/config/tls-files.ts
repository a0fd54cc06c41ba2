import { createPrivateKey, X509Certificate } from "node:crypto";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import type { TlsMaterial } from "../../rpc/transport/server/listener.ts";
import { readTextFile } from "../../store/storage/read-file.ts";
import type { Config } from "./config.ts";
import { invalidSetting } from "./errors.ts";
import { CONFIG_FILE_BYTES_MAX } from "./home.ts";
import { versionOfFile } from "./watched-files.ts";

/** Interval between checks for changed files. */
const CHECK_MS = 1_000;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

type TlsFilesModules = {
  readonly log: Logger;
  readonly timers: Pick<Timers, "every">;
  /** Unix milliseconds; the machine's clock if absent. */
  readonly now?: () => number;
};

/**
 * Certificate, key and, if clients need certificates, their authorities: loaded at the start and reloaded when a file changes. If the changed
 * files are unusable, the previous ones stay in force.
 */
export class TlsFiles {
  readonly #config: Pick<Config, "tls" | "home">;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #timer: Timer;
  readonly #onChange: ((material: TlsMaterial) => void)[] = [];
  #material: TlsMaterial;
  /** Version of the files at the last check, valid or not. */
  #version: string;
  /** A fault of the files that is not logged yet. */
  #fault: unknown;

  /** @throws InvalidConfigError if files are missing, damaged or do not match */
  constructor(config: Pick<Config, "tls" | "home">, { log, timers, now = Date.now }: TlsFilesModules) {
    this.#now = now;
    this.#config = config;
    this.#log = log;
    this.#version = this.#versionNow();
    this.#material = readMaterial(config);
    this.#warnOfExpiry();
    this.#timer = timers.every(CHECK_MS, "files of TLS", () => this.refresh());
  }

  /** The last valid set of files. */
  get material(): TlsMaterial {
    return this.#material;
  }

  /** Expiry of the certificate, in Unix seconds. */
  get expiry(): number {
    return Date.parse(new X509Certificate(this.#material.cert).validTo) / 1_000;
  }

  /** Calls `use` after each reload. */
  onChange(use: (material: TlsMaterial) => void): void {
    this.#onChange.push(use);
  }

  /**
   * Checks whether a file has changed. Operators do not replace certificate and key atomically, so a fault counts only if nothing has changed by
   * the next check.
   */
  refresh(): void {
    const version = this.#versionNow();
    if (version === this.#version) {
      this.#logFault();
      return;
    }
    this.#version = version;
    this.#fault = undefined;
    try {
      this.#material = readMaterial(this.#config);
    } catch (error) {
      this.#fault = error;
      return;
    }
    for (const use of this.#onChange) use(this.#material);
    this.#log.info("certificate reloaded", { file: this.#config.tls.cert, expires: isoTime(this.expiry) });
    this.#warnOfExpiry();
  }

  close(): void {
    this.#timer.cancel();
  }

  /** Clients reject an expired certificate, but the node continues to serve: the operator may have no other. */
  #warnOfExpiry(): void {
    if (this.expiry * 1_000 > this.#now()) return;
    this.#log.warn("certificate has expired", { file: this.#config.tls.cert, expired: isoTime(this.expiry) });
  }

  #logFault(): void {
    if (this.#fault === undefined) return;
    this.#log.error("cannot load the changed TLS files; keeping the previous certificate", { error: this.#fault });
    this.#fault = undefined;
  }

  #versionNow(): string {
    const { home, tls } = this.#config;
    const files = [tls.cert, tls.key, tls.clientCa].filter((file) => file !== "");
    return files.map((file) => versionOfFile(resolve(home, file))).join();
  }
}

function isoTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1_000).toISOString();
}

/** undefined: no TLS. @throws InvalidConfigError */
export function openTlsFiles(config: Pick<Config, "tls" | "home">, modules: TlsFilesModules): TlsFiles | undefined {
  const { cert, key, clientCa } = config.tls;
  return cert === "" && key === "" && clientCa === "" ? undefined : new TlsFiles(config, modules);
}

/** @throws InvalidConfigError */
function readMaterial({ tls, home }: Pick<Config, "tls" | "home">): TlsMaterial {
  const cert = readText("tls.cert", tls.cert, home);
  const key = readText("tls.key", tls.key, home);
  const clientCa = tls.clientCa === "" ? undefined : readText("tls.client-ca", tls.clientCa, home);
  const check = (name: string, file: string, use: () => boolean) => {
    try {
      if (use()) return;
    } catch (cause) {
      throw invalidSetting(name, `${file} cannot be used`, { cause });
    }
    throw invalidSetting(name, `${file} does not match tls.cert`);
  };
  check("tls.cert", tls.cert, () => parseCertificates(cert).length > 0);
  check("tls.key", tls.key, () => new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)));
  if (clientCa !== undefined) check("tls.client-ca", tls.clientCa, () => parseCertificates(clientCa).length > 0);
  // Detects other faults that OpenSSL reports, such as a key that is too short.
  check("tls.cert", tls.cert, () => createSecureContext({ cert, key, ca: clientCa }) !== undefined);
  return { cert, key, clientCa };
}

/** OpenSSL silently skips unreadable certificates after the first, and would then reject clients. @throws if one is damaged or the bundle is empty */
function parseCertificates(bundle: string): X509Certificate[] {
  const begun = bundle.split("-----BEGIN CERTIFICATE-----").length - 1;
  const found = bundle.match(CERTIFICATE) ?? [];
  if (found.length === 0 || found.length < begun)
    throw new Error(`only ${found.length} of ${begun} certificates are complete`);
  return found.map((text) => new X509Certificate(text));
}

function readText(key: string, file: string, home: string): string {
  try {
    return readTextFile(resolve(home, file), { bytesMax: CONFIG_FILE_BYTES_MAX });
  } catch (cause) {
    throw invalidSetting(key, `cannot read ${file || "it"}: ${(cause as Error).message}`, { cause });
  }
}
