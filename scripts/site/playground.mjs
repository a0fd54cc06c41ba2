/** In the browser: a chain in the tab, with a contract to deploy and to call. See ADR 91. */
import { COUNTER_CODE, SELECTORS } from "./counter.mjs";

/** The node for browsers, beside the pages. */
const NODE = "/docs/browser/index.js";

const panel = document.querySelector("#playground");
const start = buttonOf("Start a chain in this tab");
const actions = elementOf("div", "actions");
const output = elementOf("ol", "output");
output.setAttribute("aria-live", "polite");
panel.replaceChildren(start, actions, output);
start.addEventListener("click", () => run(start, startChain));

async function startChain() {
  const began = performance.now();
  const { createNode } = await import(NODE);
  const node = await createNode();
  const { address: from } = node.accounts[0];
  const elapsed = Math.round(performance.now() - began);
  print(`A chain with id ${Number(await node.rpc.eth_chainId())} runs in this tab, after ${elapsed} ms.`);
  start.hidden = true;
  const deploy = buttonOf("Deploy the counter");
  deploy.addEventListener("click", () =>
    run(deploy, async () => {
      const { contractAddress } = await send(node, { from, data: COUNTER_CODE });
      showContract(node, from, contractAddress);
    }),
  );
  actions.replaceChildren(deploy);
}

function showContract(node, from, to) {
  const increase = buttonOf("Increase");
  const read = buttonOf("Read the number");
  const step = document.createElement("input");
  step.type = "number";
  step.min = "0";
  step.value = "1";
  const label = elementOf("label", "");
  label.append("by ", step);
  increase.addEventListener("click", () =>
    run(increase, async () => {
      const word = BigInt(step.value || 0)
        .toString(16)
        .padStart(64, "0");
      const data = SELECTORS.increase + word;
      // The reason of a revert is in the error of an estimate; a transaction would only fail.
      await send(node, { from, to, data, gas: await node.rpc.eth_estimateGas({ from, to, data }) });
    }),
  );
  read.addEventListener("click", () =>
    run(read, async () => {
      const number = await node.rpc.eth_call({ to, data: SELECTORS.number });
      print(`number() is ${BigInt(number)}.`);
    }),
  );
  actions.replaceChildren(increase, label, read);
}

/** Sends a transaction, and prints and returns its receipt. */
async function send({ rpc }, transaction) {
  const receipt = await rpc.eth_getTransactionReceipt(await rpc.eth_sendTransaction(transaction));
  const { blockNumber, gasUsed, logs, contractAddress, status } = receipt;
  const outcome = status === "0x1" ? "" : " It reverted.";
  const created = contractAddress ? `, a contract at ${contractAddress}` : "";
  print(`Block ${Number(blockNumber)}: ${Number(gasUsed)} gas, ${logs.length} logs${created}.${outcome}`);
  return receipt;
}

/** Does `work` while `button` is disabled; shows what it failed with. */
async function run(button, work) {
  button.disabled = true;
  try {
    await work();
  } catch (error) {
    print(error instanceof Error ? error.message : String(error), "error");
  } finally {
    button.disabled = false;
  }
}

function print(text, className = "") {
  const line = elementOf("li", className);
  line.textContent = text;
  output.append(line);
}

function buttonOf(text) {
  const button = elementOf("button", "");
  button.type = "button";
  button.textContent = text;
  return button;
}

function elementOf(tag, className) {
  const element = document.createElement(tag);
  element.className = className;
  return element;
}
