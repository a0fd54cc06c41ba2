import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A certificate and its key, PEM files. */
export type Certificate = { readonly cert: string; readonly key: string };

/** For `skip` of a test: certificates are made by the program `openssl`. */
export const NO_OPENSSL =
  spawnSync("openssl", ["version"]).status === 0 ? false : "left out: no openssl to make a certificate with";

/**
 * Makes a certificate that ends in two days.
 * @param name the common name; the files in `folder` are named for it
 * @param issuer signs it; absent: it signs itself
 */
export function makeCertificate(folder: string, name: string, issuer?: Certificate): Certificate {
  const made = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key.pem`) };
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", made.key];
  const subject = ["-subj", `/CN=${name}`];
  if (issuer === undefined) {
    run(["req", "-x509", ...newKey, "-out", made.cert, "-days", "2", ...subject]);
    return made;
  }
  const request = join(folder, `${name}.csr`);
  const extensions = join(folder, `${name}.ext`);
  writeFileSync(extensions, "basicConstraints=CA:FALSE\nextendedKeyUsage=clientAuth\n");
  run(["req", "-new", ...newKey, "-out", request, ...subject]);
  const signing = ["-CA", issuer.cert, "-CAkey", issuer.key, "-CAcreateserial", "-days", "2"];
  run(["x509", "-req", "-in", request, "-out", made.cert, ...signing, "-extfile", extensions]);
  return made;
}

function run(args: readonly string[]): void {
  const { status, stderr } = spawnSync("openssl", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`);
}
