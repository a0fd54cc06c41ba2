/** Calls of the public methods over a small chain. */
import type { Recorder } from "./recorder.ts";
import {
  ALICE,
  BALANCE_OF_ALICE,
  BOB,
  CAROL,
  HASH,
  nextBlock,
  SLOT,
  signedPayment,
  TRANSFER,
  TYPED_DATA,
  type World,
} from "./world.ts";

/** Reads of chain, blocks, transactions, state and logs. */
export async function readChain(r: Recorder, { token, deployHash, transferHash, block }: World) {
  await r.example("web3_clientVersion");
  await r.example("web3_sha3", "0x68656c6c6f");
  await r.example("net_version");
  await r.example("net_peerCount");
  await r.example("net_listening");
  await r.example("rpc_modules");
  await r.example("rpc_discover");

  await r.example("eth_protocolVersion");
  await r.example("eth_chainId");
  await r.example("eth_config");
  await r.example("eth_capabilities");
  await r.example("eth_syncing");
  await r.example("eth_blockNumber");
  await r.example("eth_coinbase");
  await r.example("eth_accounts");
  await r.example("eth_mining");
  await r.example("eth_hashrate");
  await r.example("eth_submitHashrate", "0x500000", HASH);
  await r.rejected("eth_getWork");
  await r.example("eth_submitWork", "0x0000000000000001", HASH, HASH);

  await r.example("eth_gasPrice");
  await r.example("eth_maxPriorityFeePerGas");
  await r.example("eth_feeHistory", "0x2", "latest", [25, 75]);
  await r.example("eth_baseFee");
  await r.example("eth_blobBaseFee");

  await r.example("eth_getBalance", ALICE, "latest");
  await r.example("eth_getStorageAt", token, "0x0", "latest");
  await r.example("eth_getStorageValues", { [token]: [SLOT] }, "latest");
  await r.example("eth_getTransactionCount", ALICE, "pending");
  await r.example("eth_getCode", token, "latest");
  await r.example("eth_getProof", token, [SLOT], "latest");
  await r.example("eth_getAccount", token, "latest");
  await r.example("eth_getAccountInfo", token, "latest");

  await r.example("eth_getKnownContracts", [token, ALICE]);
  await r.example("eth_findContracts", "tok");

  await r.example("eth_getBlockByNumber", "latest", false);
  await r.example("eth_getBlockByHash", block, true);
  await r.example("eth_getHeaderByNumber", "latest");
  await r.example("eth_getHeaderByHash", block);
  await r.example("eth_getBlockReceipts", "0x2");
  for (const name of ["eth_getBlockAccessList", "debug_getRawBlockAccessList"]) await r.rejected(name, "0x2");
  await r.example("eth_getBlockTransactionCountByNumber", "latest");
  await r.example("eth_getBlockTransactionCountByHash", block);
  for (const where of ["Hash", "Number"]) {
    const at = where === "Hash" ? block : "0x2";
    await r.example(`eth_getUncleCountByBlock${where}`, at);
    await r.example(`eth_getUncleByBlock${where}AndIndex`, at, "0x0");
    await r.example(`eth_getTransactionByBlock${where}AndIndex`, at, "0x0");
    await r.example(`eth_getRawTransactionByBlock${where}AndIndex`, at, "0x0");
  }
  await r.example("eth_getTransactionbyBlockNumberAndIndex", "0x2", "0x0");
  await r.example("eth_getTransactionByHash", transferHash);
  await r.example("eth_getTransactionReceipt", transferHash);
  await r.example("eth_getTransactionLogs", transferHash);
  await r.example("eth_getRawTransactionByHash", transferHash);
  await r.example("eth_getTransactionBySenderAndNonce", ALICE, "0x1");

  const balanceOf = { to: token, data: BALANCE_OF_ALICE };
  const transfer = { from: ALICE, to: token, data: TRANSFER };
  await r.example("eth_call", balanceOf, "latest");
  await r.example("eth_callMany", [{ transactions: [transfer, balanceOf] }], { blockNumber: "latest" });
  await r.example("eth_estimateGas", transfer);
  await r.example("eth_createAccessList", transfer);
  await r.example("eth_simulateV1", { blockStateCalls: [{ calls: [transfer] }], traceTransfers: true }, "latest");

  await r.example("eth_getLogs", { fromBlock: "0x0", toBlock: "latest", address: token });

  for (const name of ["debug_getRawBlock", "debug_getRawHeader", "debug_getRawReceipts"]) await r.example(name, "0x2");
  await r.example("debug_getRawTransaction", transferHash);
  for (const name of ["debug_getBlockRlp", "debug_getHeaderRlp", "debug_printBlock", "debug_seedHash"]) {
    await r.example(name, 2);
  }
  const call = { tracer: "callTracer" };
  await r.example("debug_traceTransaction", transferHash, call);
  await r.example("debug_traceBlockByNumber", "0x2", { disableStorage: true, limit: 2 });
  await r.example("debug_traceBlockByHash", block, { tracer: "prestateTracer", tracerConfig: { diffMode: true } });
  await r.example("debug_traceBlock", await r.call("debug_getRawBlock", "0x2"), call);
  await r.example("debug_traceCall", transfer, "latest", call);
  await r.example("debug_traceCallMany", [{ transactions: [transfer] }], { blockNumber: "latest" }, call);
  await r.rejected("debug_traceBadBlock", HASH, call);
  await r.example("debug_intermediateRoots", block);
  await r.example("debug_dumpBlock", "0x2");
  await r.example("debug_accountRange", "latest", "0x", 2, true, true, false);
  await r.example("debug_storageRangeAt", block, 0, token, "0x", 2);
  await r.example("debug_getModifiedAccountsByNumber", 2);
  await r.example("debug_getModifiedAccountsByHash", block);
  await r.example("debug_preimage", "0xe9707d0e6171f728f7473c24cc0432a9b07eaaf1efed6a137a4a8c12c79552d9");
  await r.example("debug_executionWitness", "0x2");
  await r.example("debug_executionWitnessByHash", block);
  await r.example("debug_dbAncient", "hashes", 0);
  await r.example("debug_dbAncients");
  await r.example("debug_dbGet", "0x01666f726d6174");
  await r.example("debug_getAccessibleState", "latest", "earliest");
  await r.example("debug_stateSize", "latest");
  await r.example("debug_getBadBlocks");

  await r.example("trace_block", "0x2");
  await r.example("trace_transaction", transferHash);
  await r.example("trace_get", deployHash, []);
  await r.example("trace_filter", { fromBlock: "0x0", toAddress: [token], count: 1 });
  await r.example("trace_call", transfer, ["trace", "stateDiff"], "latest");
  await r.example("trace_callMany", [[transfer, ["trace"]]], "latest");
  await r.example("trace_rawTransaction", await signedPayment(0), ["trace"], "latest");
  await r.example("trace_replayTransaction", transferHash, ["trace", "vmTrace"]);
  await r.example("trace_replayBlockTransactions", "0x2", ["stateDiff"]);

  await r.example("ots_getApiLevel");
  await r.example("ots_getBlockDetails", 2);
  await r.example("ots_getBlockDetailsByHash", block);
  await r.example("ots_getBlockTransactions", 2, 0, 25);
  await r.example("ots_getContractCreator", token);
  await r.example("ots_getInternalOperations", transferHash);
  await r.example("ots_getTransactionBySenderAndNonce", ALICE, 1);
  await r.example("ots_getTransactionError", transferHash);
  await r.example("ots_hasCode", token, "latest");
  await r.example("ots_searchTransactionsAfter", token, 0, 25);
  await r.example("ots_searchTransactionsBefore", token, 0, 25);
  await r.example("ots_traceTransaction", transferHash);

  await r.example("erigon_blockNumber", "latest");
  await r.example("erigon_getHeaderByNumber", "0x2");
  await r.example("erigon_getHeaderByHash", block);
  await r.example("erigon_getBlockReceiptsByBlockHash", block);
  await r.example("erigon_getLogs", { fromBlock: "0x0", toBlock: "latest", address: token });
  await r.example("erigon_getLogsByHash", block);
  await r.example("erigon_getBlockByTimestamp", 1_767_225_630, false);
  await r.example("erigon_getLatestLogs", { address: token }, { logCount: 1 });
  await r.example("erigon_getBalanceChangesInBlock", "0x2");
  await r.example("erigon_forks");
  await r.example("erigon_cacheCheck");
}

/** Notifications of a connection by subscription, once they are there. */
export type NextNotice = (subscription: string) => Promise<unknown>;

/** Transactions, and the filters and subscriptions that see them. */
export async function sendTransactions(r: Recorder, { token }: World, nextNotice: NextNotice) {
  const logs = await r.example("eth_newFilter", { address: token });
  r.standIn(logs, "0x1c8bd1e7f5a04b7f9d0c2b3a4e5f6071");
  const blocks = await r.example("eth_newBlockFilter");
  r.standIn(blocks, "0x2d9ce2f806b15c80ae1d3c4b5f607182");
  const pending = await r.example("eth_newPendingTransactionFilter", true);
  r.standIn(pending, "0x3eadf30917c26d91bf2e4d5c60718293");
  const heads = await r.example("eth_subscribe", "newHeads");
  r.standIn(heads, "0x4fbe041a28d37ea2c03f5e6d718293a4");

  await r.example("eth_sendTransaction", { from: ALICE, to: token, data: TRANSFER });
  r.notice("eth_subscribe", await nextNotice(heads));
  await r.example("eth_getFilterChanges", logs);
  await r.example("eth_getFilterLogs", logs);
  await r.example("eth_uninstallFilter", logs);
  await r.example("eth_unsubscribe", heads);

  const traces = await r.example("debug_subscribe", "traceChain", "0x1", "0x2", { tracer: "callTracer" });
  r.standIn(traces, "0x50cf152b39e48fb3d1406f7e8293a4b5");
  r.notice("debug_subscribe", await nextNotice(traces));
  await r.example("debug_unsubscribe", traces);

  await r.example("eth_sendRawTransaction", await signedPayment(0));
  await r.example("eth_sendRawTransactionSync", await signedPayment(1));
  await r.call("anvil_setBalance", token, "0xde0b6b3a7640000");
  await r.example("eth_sendUnsignedTransaction", { from: token, to: BOB, gas: "0x5208" });
  await r.call("anvil_impersonateAccount", token);
  await r.example("eth_sendTransactionSync", { from: token, to: BOB, gas: "0x5208" });
  await r.call("anvil_stopImpersonatingAccount", token);

  await r.example("eth_sign", ALICE, "0x68656c6c6f");
  await r.example("eth_signTypedData_v4", ALICE, TYPED_DATA);
  await r.example("eth_signTypedData", ALICE, TYPED_DATA);
  const payment = { from: ALICE, to: BOB, value: "0xde0b6b3a7640000" };
  await r.example("eth_fillTransaction", payment);
  const fees = { gas: "0x5208", maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x3b9aca00", nonce: "0x3" };
  await r.example("eth_signTransaction", { ...payment, ...fees });

  await r.example("eth_requestAccounts");
  await r.example("wallet_switchEthereumChain", { chainId: "0x7a69" });
  await r.example("wallet_addEthereumChain", { chainId: "0x7a69" });
  await r.example("wallet_getCapabilities", ALICE);
  const calls = [{ to: BOB, value: "0x1" }];
  const sent = { version: "2.0.0", from: ALICE, chainId: "0x7a69", atomicRequired: false, calls };
  const { id } = await r.example("wallet_sendCalls", sent);
  r.standIn(id, "0x61d0263c4af590c4e251708f93a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6");
  await r.example("wallet_getCallsStatus", id);
}

/** What waits in the pool while no block is made. */
export async function fillPool(r: Recorder, { token }: World) {
  await r.call("evm_setAutomine", false);
  const payment = { from: BOB, to: CAROL, value: "0x1", gas: "0x5208", gasPrice: "0x77359400" };
  const waiting = await r.call("eth_sendTransaction", payment);
  await r.call("eth_sendTransaction", { ...payment, from: CAROL, nonce: "0x9" });
  await r.example("txpool_status");
  await r.example("txpool_content");
  await r.example("txpool_contentFrom", BOB);
  await r.example("txpool_inspect");
  await r.example("eth_pendingTransactions");
  const { nonce } = await r.call("eth_getTransactionByHash", waiting);
  await r.example("eth_resend", { ...payment, nonce }, "0xb2d05e00");

  const transfer = { from: ALICE, to: token, data: TRANSFER };
  for (const prefix of ["hardhat", "anvil"]) {
    const hash = await r.call("eth_sendTransaction", transfer);
    await r.example(`${prefix}_dropTransaction`, hash);
  }
  await r.example("anvil_removePoolTransactions", BOB);
  for (const prefix of ["hardhat", "anvil"]) await r.example(`${prefix}_dropAllTransactions`);
  await r.call("evm_setAutomine", true);

  const attributes = await nextBlock(r);
  const { hash: parent } = await r.call("eth_getBlockByNumber", "latest", false);
  await r.example("testing_buildBlockV1", parent, attributes, [await signedPayment(2)]);
  await r.example("testing_commitBlockV1", attributes, []);
}
