import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../../node/config/config.ts";
import { jwtSecretPath } from "../../node/config/home.ts";
import { readJwtSecret } from "../../node/config/secrets.ts";
import { REVOKED_MAX, readTokenState, TOKEN_SECONDS_MAX } from "../../node/config/token-file.ts";
import { type Finding, findingsOf } from "./finding.ts";
import type { System } from "./system.ts";

const DAY_MS = 86_400_000;
/** As the alert `CertificateExpires`: issuing one takes some companies a week. */
const CERTIFICATE_MS_COMFORTABLE = 14 * DAY_MS;

/** The certificate of `tls.cert`: its dates, and that the key belongs to it. */
export function checkCertificate({ home, tls }: Config, _system: System, now: () => number): Finding[] {
  if (tls.cert === "") return [];
  const { ok, warning, fault } = findingsOf("certificate");
  let certificate: X509Certificate;
  let isPair: boolean;
  try {
    certificate = new X509Certificate(readFileSync(resolve(home, tls.cert)));
    isPair = certificate.checkPrivateKey(createPrivateKey(readFileSync(resolve(home, tls.key))));
  } catch (error) {
    // The text of OpenSSL names no part of the key.
    const reason = (error as Error).message.split("\n")[0];
    return [fault(`cannot read tls.cert and tls.key: ${reason}; replace them with PEM files`)];
  }
  const [begin, end] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  const text = `tls.cert is valid until ${new Date(end).toISOString()}`;
  if (!isPair) return [fault("tls.key does not match tls.cert: replace both files together")];
  if (end <= now()) return [fault(`${text} and has expired, so clients reject it; replace both files`)];
  if (begin > now()) return [fault(`tls.cert is valid only from ${new Date(begin).toISOString()}: check the clock`)];
  return [end - now() < CERTIFICATE_MS_COMFORTABLE ? warning(`${text}: renew it`) : ok(text)];
}

/** The files that verify bearer tokens; a home has none before its first start. */
export function checkTokens({ home }: Config, _system: System, now: () => number): Finding[] {
  if (!existsSync(jwtSecretPath(home))) return [];
  const { ok, warning, fault } = findingsOf("tokens");
  let state: ReturnType<typeof readTokenState>;
  try {
    readJwtSecret(home);
    state = readTokenState(home);
  } catch (error) {
    return [fault((error as Error).message)];
  }
  const { previous, revoked } = state;
  const nowSeconds = now() / 1_000;
  const live = revoked.filter(({ until }) => until > nowSeconds);
  const findings: Finding[] = [];
  if (live.length > REVOKED_MAX * 0.9) {
    const advice = `the maximum is ${REVOKED_MAX}: make a new secret (evmintd token rotate --grace 0s)`;
    findings.push(warning(`${live.length} tokens are revoked; ${advice}`));
  }
  // Its clock was ahead when it was written: a grace of years would leave a stolen secret good.
  if (previous !== undefined && previous.until > nowSeconds + TOKEN_SECONDS_MAX) {
    const until = isoOf(previous.until);
    findings.push(warning(`the previous secret is valid until ${until}: revoke it (evmintd token rotate --grace 0s)`));
  } else if (previous !== undefined && previous.until > nowSeconds) {
    findings.push(ok(`tokens of the previous secret are valid until ${isoOf(previous.until)}`));
  } else if (previous !== undefined) {
    const advice = "it becomes valid again if the clock goes back; remove `previous` from config/tokens.json";
    findings.push(warning(`the previous secret expired ${isoOf(previous.until)}: ${advice}`));
  }
  const names = live.length === 0 ? "no token is revoked" : `${live.length} revoked`;
  return findings.some(({ level }) => level !== "ok") ? findings : [...findings, ok(names)];
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
