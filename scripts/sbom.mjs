/**
 * Writes the software bill of materials of the package, CycloneDX in JSON, to `dist/sbom.json`, or the file that is named: what an installation gets, and the packages
 * whose code is in the files of this one. npm knows them all from the lock file; which of those of development are in the files says
 * `dist/bundle/LICENSES.txt`. Without times and random numbers, so that a package that is made again has the same.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const DEVELOPMENT = "cdx:npm:package:development";
const BUNDLED = { name: "cdx:npm:package:bundled", value: "true" };

const text = execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"], {
  cwd: root,
  encoding: "utf8",
  // Development's packages too, whatever the caller leaves out.
  env: { ...process.env, NODE_ENV: "development", npm_config_omit: "" },
  maxBuffer: 64 << 20,
  shell: process.platform === "win32",
});
const { serialNumber: _, metadata, components, dependencies, ...rest } = JSON.parse(text);
const licenses = readFileSync(new URL("../dist/bundle/LICENSES.txt", import.meta.url), "utf8");
const bundled = new Set(
  Array.from(licenses.matchAll(/^(\S+) (\d\S*) \(.*\)$/gm), ([, name, version]) => `${name}@${version}`),
);

const shipped = components.flatMap((component) => {
  const { name, version, properties = [] } = component;
  const isBundled = bundled.has(`${name}@${version}`);
  const isDevelopment = properties.some((property) => property.name === DEVELOPMENT);
  if (!isBundled) return isDevelopment ? [] : [component];
  const others = properties.filter((property) => property.name !== DEVELOPMENT);
  return [{ ...component, scope: "required", properties: [...others, BUNDLED] }];
});
const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
const unknown = [...bundled].filter((each) => !listed.has(each));
if (bundled.size === 0 || unknown.length > 0) throw new Error(`not in the lock file: ${unknown}`);
const own = metadata.component["bom-ref"];
const refs = new Set([own, ...shipped.map((component) => component["bom-ref"])]);
const sbom = {
  ...rest,
  // npm names the folder of the checkout.
  metadata: { component: { ...metadata.component, name: own.slice(0, own.lastIndexOf("@")) } },
  components: shipped,
  dependencies: dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
};
writeFileSync(
  process.argv[2] ?? fileURLToPath(new URL("../dist/sbom.json", import.meta.url)),
  `${JSON.stringify(sbom)}\n`,
);
