// npx hardhat test nodejs, in this folder
import hardhatNetworkHelpers from "@nomicfoundation/hardhat-network-helpers";
import hardhatNodeTestRunner from "@nomicfoundation/hardhat-node-test-runner";
import hardhatViem from "@nomicfoundation/hardhat-viem";
import { defineConfig } from "hardhat/config";

// evmintd start --dev --in-memory
export default defineConfig({
  plugins: [hardhatNodeTestRunner, hardhatViem, hardhatNetworkHelpers],
  networks: {
    evmint: {
      type: "http",
      url: process.env.EVMINT_URL ?? "http://127.0.0.1:8545",
      accounts: "remote",
    },
  },
});
