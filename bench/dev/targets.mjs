/** The nodes that the suite runs against, as `SUITE_TARGET` names one. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** An EIP-1193 provider, and what ends it. */
export async function openTarget() {
  const target = process.env.SUITE_TARGET;
  if (target === "evmint") return inProcess();
  if (target === "record") return recording(await inProcess());
  if (target === "replay") return replay();
  if (target === "hardhat") return hardhat();
  return overHttp(target);
}

async function inProcess() {
  const { createNode } = await import("../../dist/bundle/library.js");
  const node = await createNode();
  return { provider: node.provider, close: () => node.stop() };
}

/** Writes each answer to `SUITE_ANSWERS`. */
function recording({ provider, close }) {
  const answers = [];
  const request = async (call) => {
    try {
      const result = await provider.request(call);
      answers.push({ result });
      return result;
    } catch (error) {
      const { code, message, data } = error;
      answers.push({ error: { code, message, data } });
      throw error;
    }
  };
  return {
    provider: { request },
    async close() {
      writeFileSync(process.env.SUITE_ANSWERS, JSON.stringify(answers));
      await close();
    },
  };
}

/** The recorded answers in their order, without a node: what runner and client cost. */
function replay() {
  const answers = JSON.parse(readFileSync(process.env.SUITE_ANSWERS, "utf8"))[Symbol.iterator]();
  const request = async () => {
    await new Promise(setImmediate);
    const { result, error } = answers.next().value;
    if (error) throw Object.assign(new Error(error.message), error);
    return result;
  };
  return { provider: { request }, close() {} };
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
  const { SUITE_CALLS, SUITE_PID } = process.env;
  return SUITE_CALLS ? timed(provider, SUITE_PID, SUITE_CALLS) : { provider, close() {} };
}

/** Writes to `file` what each call took, and how much CPU time the node `pid` used until its answer and from there to the next call. */
function timed(provider, pid, file) {
  const calls = [];
  let cpuAtAnswer = nodeCpuMs(pid);
  let answeredAt = performance.now();
  async function request({ method, params }) {
    const cpuBefore = nodeCpuMs(pid);
    const begin = performance.now();
    const call = { method, clientMs: begin - answeredAt };
    if (calls.length > 0) calls.at(-1).cpuAfterMs = cpuBefore - cpuAtAnswer;
    calls.push(call);
    try {
      return await provider.request({ method, params });
    } finally {
      answeredAt = performance.now();
      cpuAtAnswer = nodeCpuMs(pid);
      call.ms = answeredAt - begin;
      call.cpuMs = cpuAtAnswer - cpuBefore;
    }
  }
  return {
    provider: { request },
    close() {
      writeFileSync(file, JSON.stringify(calls.filter(({ cpuAfterMs }) => cpuAfterMs !== undefined)));
    },
  };
}

/** Of all threads, as Linux counts it to the nanosecond. A thread may end meanwhile. */
function nodeCpuMs(pid) {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1").split(" ")[0]);
    } catch (error) {
      if (error.code !== "ENOENT" && error.code !== "ESRCH") throw error;
    }
  }
  return nanoseconds / 1e6;
}
