import {
  BEACON_ROOTS_ADDRESS,
  BUILDER_DEPOSIT_REQUEST_ADDRESS,
  BUILDER_EXIT_REQUEST_ADDRESS,
  CONSOLIDATION_REQUEST_ADDRESS,
  HISTORY_STORAGE_ADDRESS,
  WITHDRAWAL_REQUEST_ADDRESS,
} from "../../base/params/gas.ts";
import { type Address, addressToBytes, parseAddress } from "../../base/primitives/address.ts";
import { bigintToFixedBytes, concatBytes, leftPad } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../base/primitives/hash.ts";
import { bytesToHex, type Hex } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import type { DevHardfork } from "./dev-rules.ts";
import {
  CREATE_X_CODE,
  ENTRY_POINT_V06_CODE,
  ENTRY_POINT_V07_CODE,
  ENTRY_POINT_V08_MAINNET_CODE,
  MULTICALL3_CODE,
  PERMIT2_MAINNET_CODE,
  SENDER_CREATOR_CODE,
  SENDER_CREATOR_V07_CODE,
  SENDER_CREATOR_V08_CODE,
} from "./predeploy-code.ts";

/** Contracts that the protocol calls in every block: without code at their addresses, a Prague block is invalid. */
export const SYSTEM_CONTRACTS: readonly { readonly address: Hex; readonly code: Hex }[] = [
  {
    address: BEACON_ROOTS_ADDRESS,
    code: "0x3373fffffffffffffffffffffffffffffffffffffffe14604d57602036146024575f5ffd5b5f35801560495762001fff810690815414603c575f5ffd5b62001fff01545f5260205ff35b5f5ffd5b62001fff42064281555f359062001fff015500",
  },
  {
    address: HISTORY_STORAGE_ADDRESS,
    code: "0x3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81430311604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500",
  },
  {
    address: WITHDRAWAL_REQUEST_ADDRESS,
    code: "0x3373fffffffffffffffffffffffffffffffffffffffe1460cb5760115f54807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff146101f457600182026001905f5b5f82111560685781019083028483029004916001019190604d565b909390049250505036603814608857366101f457346101f4575f5260205ff35b34106101f457600154600101600155600354806003026004013381556001015f35815560010160203590553360601b5f5260385f601437604c5fa0600101600355005b6003546002548082038060101160df575060105b5f5b8181146101835782810160030260040181604c02815460601b8152601401816001015481526020019060020154807fffffffffffffffffffffffffffffffff00000000000000000000000000000000168252906010019060401c908160381c81600701538160301c81600601538160281c81600501538160201c81600401538160181c81600301538160101c81600201538160081c81600101535360010160e1565b910180921461019557906002556101a0565b90505f6002555f6003555b5f54807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff14156101cd57505f5b6001546002828201116101e25750505f6101e8565b01600290035b5f555f600155604c025ff35b5f5ffd",
  },
  {
    address: CONSOLIDATION_REQUEST_ADDRESS,
    code: "0x3373fffffffffffffffffffffffffffffffffffffffe1460d35760115f54807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff1461019a57600182026001905f5b5f82111560685781019083028483029004916001019190604d565b9093900492505050366060146088573661019a573461019a575f5260205ff35b341061019a57600154600101600155600354806004026004013381556001015f358155600101602035815560010160403590553360601b5f5260605f60143760745fa0600101600355005b6003546002548082038060021160e7575060025b5f5b8181146101295782810160040260040181607402815460601b815260140181600101548152602001816002015481526020019060030154905260010160e9565b910180921461013b5790600255610146565b90505f6002555f6003555b5f54807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff141561017357505f5b6001546001828201116101885750505f61018e565b01600190035b5f555f6001556074025ff35b5f5ffd",
  },
];

/** Contracts that Amsterdam adds: EIP-8282, builder deposits and builder exits. */
const AMSTERDAM_CONTRACTS: typeof SYSTEM_CONTRACTS = [
  {
    address: BUILDER_DEPOSIT_REQUEST_ADDRESS,
    code: "0x3373fffffffffffffffffffffffffffffffffffffffe1461011c575f54807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff146102705760015460088111605257506058565b60089003015b601190600182026001905f5b5f821115607f57810190830284830290049160010191906064565b90939004925050503660b814609f57366102705734610270575f5260205ff35b8034106102705760383567ffffffffffffffff1680633b9aca001161027057633b9aca00029034031061027057600154600101600155600354806006026004015f358155600101602035815560010160403581556001016060358155600101608035815560010160a035905560b85f5f3760b85fa0600101600355005b60035460025480820380604011610131575060405b5f5b8181146101d7578281016006026004018160b8028154815260200181600101548152602001816002015480825260401c67ffffffffffffffff16816010018160381c81600701538160301c81600601538160281c81600501538160201c81600401538160181c81600301538160101c81600201538160081c816001015353602001816003015481526020018160040154815260200190600501549052600101610133565b91018092146101e957906002556101f4565b90505f6002555f6003555b36610242575f54600154817fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff1461023057600882820111610238575b50505f610264565b0160089003610264565b7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff5b5f555f60015560b8025ff35b5f5ffd",
  },
  {
    address: BUILDER_EXIT_REQUEST_ADDRESS,
    code: "0x3373fffffffffffffffffffffffffffffffffffffffe1460e1575f54807fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff146101c65760015460028111605157506057565b60029003015b601190600182026001905f5b5f821115607e57810190830284830290049160010191906063565b909390049250505036603014609e57366101c657346101c6575f5260205ff35b34106101c657600154600101600155600354806003026004013381556001015f35815560010160203590553360601b5f5260305f60143760445fa0600101600355005b6003546002548082038060101160f5575060105b5f5b81811461012d5782810160030260040181604402815460601b8152601401816001015481526020019060020154905260010160f7565b910180921461013f579060025561014a565b90505f6002555f6003555b36610198575f54600154817fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff146101865760028282011161018e575b50505f6101ba565b01600290036101ba565b7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff5b5f555f6001556044025ff35b5f5ffd",
  },
];

/** The contracts that the protocol calls up to `newest`. Every dev chain has those of Prague. */
export function systemContractsOf(newest: DevHardfork): typeof SYSTEM_CONTRACTS {
  return newest === "amsterdam" ? [...SYSTEM_CONTRACTS, ...AMSTERDAM_CONTRACTS] : SYSTEM_CONTRACTS;
}

/** The deployer at the same address on nearly every chain; Foundry and others deploy libraries through it with CREATE2. */
export const CREATE2_DEPLOYER: { readonly address: Hex; readonly code: Hex } = {
  address: "0x4e59b44847b379578588920ca78fbf26c0b4956c",
  code: "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3",
};

/** A contract that has one address on nearly every public chain, so that tools and contracts expect it there. */
export type Predeploy = {
  /** As `--predeploys` takes it. */
  readonly name: string;
  readonly accounts: readonly {
    readonly address: Address;
    /** Runtime code; some holds the chain id. */
    readonly code: (chainId: bigint) => Hex;
    /** The constructor's storage; empty if omitted. */
    readonly storage?: Readonly<Record<Hash, Hash>>;
  }[];
};

/** Slot and value of OpenZeppelin's ReentrancyGuard in the idle state: the first call then costs what it would on mainnet. */
const NOT_ENTERED = { [hashFromBigint(2n)]: hashFromBigint(1n) };

const ENTRY_POINT_V08_ADDRESS = parseAddress("0x4337084d9e255ff0702461cf8895ce9e3b5ff108");
const PERMIT2_ADDRESS = parseAddress("0x000000000022d473030f116ddee9f6b43ac78ba3");

export const PREDEPLOYS: readonly Predeploy[] = [
  predeploy("multicall3", at("0xca11bde05977b3631167028862be2a173976ca11", MULTICALL3_CODE)),
  predeploy("permit2", { address: PERMIT2_ADDRESS, code: permit2Code }),
  // Same code as the CREATE2 deployer, at the address through which Safe deploys.
  predeploy("safe-singleton-factory", at("0x914d7fec6aac8cd542e72bca78b30650d45643d7", CREATE2_DEPLOYER.code)),
  // ERC-4337
  predeploy(
    "entrypoint-v0.6",
    at("0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789", ENTRY_POINT_V06_CODE),
    at("0x7fc98430eaedbb6070b35b39d798725049088348", SENDER_CREATOR_CODE),
  ),
  predeploy(
    "entrypoint-v0.7",
    { ...at("0x0000000071727de22e5e9d8baf0edac6f37da032", ENTRY_POINT_V07_CODE), storage: NOT_ENTERED },
    at("0xefc2c1444ebcc4db75e7613d20c6a62ff67a167c", SENDER_CREATOR_V07_CODE),
  ),
  predeploy(
    "entrypoint-v0.8",
    { address: ENTRY_POINT_V08_ADDRESS, code: entryPointV08Code },
    at("0x449ed7c3e6fee6a97311d4b55475df59c44add33", SENDER_CREATOR_V08_CODE),
  ),
  predeploy("createx", at("0xba5ed099633d3b313e4d5f7bdc1305d3c28ba5ed", CREATE_X_CODE)),
];

function permit2Code(chainId: bigint): Hex {
  const names = ["EIP712Domain(string name,uint256 chainId,address verifyingContract)", "Permit2"];
  return withDomain(PERMIT2_MAINNET_CODE, names, PERMIT2_ADDRESS, { chainId, chainIdAt: 6_945, separatorAt: 6_983 });
}

function entryPointV08Code(chainId: bigint): Hex {
  const type = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
  const offsets = { chainId, chainIdAt: 13_774, separatorAt: 13_585 };
  return withDomain(ENTRY_POINT_V08_MAINNET_CODE, [type, "ERC4337", "1"], ENTRY_POINT_V08_ADDRESS, offsets);
}

/**
 * The code with the values its constructor stored in it: the chain id and the EIP-712 domain separator, 32 bytes each.
 * @param names of the domain, its type first
 */
function withDomain(
  mainnetCode: Hex,
  names: readonly string[],
  address: Address,
  { chainId, chainIdAt, separatorAt }: { chainId: bigint; chainIdAt: number; separatorAt: number },
): Hex {
  const code = Buffer.from(mainnetCode.slice(2), "hex");
  const chainIdWord = bigintToFixedBytes(chainId, 32);
  const hashes = names.map((name) => keccak256(Buffer.from(name)));
  const separator = keccak256(concatBytes(...hashes, chainIdWord, leftPad(addressToBytes(address), 32)));
  code.set(chainIdWord, chainIdAt);
  code.set(separator, separatorAt);
  return bytesToHex(code);
}

function at(address: string, code: Hex): Predeploy["accounts"][number] {
  return { address: parseAddress(address), code: () => code };
}

function predeploy(name: string, ...accounts: Predeploy["accounts"]): Predeploy {
  return { name, accounts };
}
