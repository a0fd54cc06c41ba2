/** The nodes that the suite runs against, as `SUITE_TARGET` names one. */

/** An EIP-1193 provider, and what ends it. */
export async function openTarget() {
  const target = process.env.SUITE_TARGET;
  if (target === "evmint") return inProcess();
  if (target === "hardhat") return hardhat();
  return overHttp(target);
}

async function inProcess() {
  const { createNode } = await import("../../dist/bundle/library.js");
  const node = await createNode();
  return { provider: node.provider, close: () => node.stop() };
}

/** Hardhat's simulated network in this process. */
async function hardhat() {
  const { createHardhatRuntimeEnvironment } = await import(process.env.SUITE_HARDHAT);
  const { network } = await createHardhatRuntimeEnvironment({});
  const connection = await network.connect();
  return { provider: connection.provider, close: () => connection.close() };
}

function overHttp(url) {
  let id = 0;
  const provider = {
    async request({ method, params = [] }) {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params }),
      });
      const { result, error } = await response.json();
      if (error) throw Object.assign(new Error(error.message), error);
      return result;
    },
  };
  return { provider, close() {} };
}
