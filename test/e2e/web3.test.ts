import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Web3 } from "web3";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const artifact = contract("Token");
const [alice, bob] = DEV_ADDRESSES;
let node: TestNode;

before(async () => {
  node = await startTestNode({ dev: true, settings: { "keystore.strength": "light" } });
});
after(() => node.stop());

for (const kind of ["http", "webSocket"] as const) {
  test(`web3.js over ${kind} works with the accounts of the node`, async () => {
    const web3 = new Web3(kind === "http" ? node.url : node.wsUrl);
    try {
      web3.eth.transactionPollingInterval = 20;
      const accounts = await web3.eth.getAccounts();
      assert.deepEqual(accounts.slice(0, 2), [alice, bob]);

      const sent = await web3.eth.sendTransaction({ from: alice, to: bob, value: "1" });
      assert.equal(sent.status, 1n);
      // A transfer needs 21000; the service's default stands in the transaction.
      const tx = await web3.eth.getTransaction(sent.transactionHash);
      assert.equal(tx.from.toLowerCase(), alice.toLowerCase());

      // biome-ignore lint/suspicious/noExplicitAny: web3's contract types come from literal ABIs
      const factory = new web3.eth.Contract(artifact.abi as any);
      const token = await factory.deploy({ data: artifact.bytecode, arguments: [77n] }).send({ from: alice });
      // biome-ignore lint/suspicious/noExplicitAny: as above
      const methods = token.methods as any;
      const receipt = await methods.transfer(bob, 7n).send({ from: alice });
      assert.equal(receipt.status, 1n);
      assert.equal(await methods.balanceOf(bob).call(), 7n);
      await assert.rejects(methods.transfer(bob, 71n).send({ from: alice }));

      const message = "hello";
      const signature = (await web3.eth.sign(web3.utils.utf8ToHex(message), alice)) as string;
      assert.equal(web3.eth.accounts.recover(message, signature), alice);
    } finally {
      // Over HTTP there is nothing to disconnect, and web3 says so by throwing.
      if (kind === "webSocket") web3.provider?.disconnect();
    }
  });
}

test("web3.js makes, unlocks and locks accounts of the key store", async () => {
  const web3 = new Web3(node.url);
  web3.eth.transactionPollingInterval = 20;
  const account = await web3.eth.personal.newAccount("secret");
  assert.ok((await web3.eth.personal.getAccounts()).includes(account));
  const funding = { from: alice, to: account, value: web3.utils.toWei("1", "ether") };
  assert.equal((await web3.eth.sendTransaction(funding)).status, 1n);

  const spending = { from: account, to: bob, value: "1" };
  await assert.rejects(async () => web3.eth.sendTransaction(spending), /authentication needed/);
  assert.equal(await web3.eth.personal.unlockAccount(account, "secret", 300), true);
  assert.equal((await web3.eth.sendTransaction(spending)).status, 1n);
  assert.equal(await web3.eth.personal.lockAccount(account), true);
  await assert.rejects(async () => web3.eth.sendTransaction(spending), /authentication needed/);

  const hash = await web3.eth.personal.sendTransaction(spending, "secret");
  assert.match(hash, /^0x[0-9a-f]{64}$/);
  const signature = await web3.eth.personal.sign("0xdeadbeef", account, "secret");
  assert.equal(await web3.eth.personal.ecRecover("0xdeadbeef", signature), account.toLowerCase());
});
