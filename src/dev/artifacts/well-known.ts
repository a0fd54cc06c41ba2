import type { AbiItem, AbiParameter } from "./abi.ts";

/** Functions, events and errors of standards and of OpenZeppelin's contracts: they decode calls without a known artifact. */
const SIGNATURES = `
  function name() returns (string)
  function symbol() returns (string)
  function decimals() returns (uint8)
  function totalSupply() returns (uint256)
  function balanceOf(address owner) returns (uint256)
  function allowance(address owner, address spender) returns (uint256)
  function transfer(address to, uint256 value) returns (bool)
  function transferFrom(address from, address to, uint256 value) returns (bool)
  function approve(address spender, uint256 value) returns (bool)
  function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
  function nonces(address owner) returns (uint256)
  function mint(address to, uint256 value)
  function burn(uint256 value)
  function owner() returns (address)
  function transferOwnership(address newOwner)
  function renounceOwnership()
  function hasRole(bytes32 role, address account) returns (bool)
  function grantRole(bytes32 role, address account)
  function revokeRole(bytes32 role, address account)
  function supportsInterface(bytes4 interfaceId) returns (bool)
  function ownerOf(uint256 tokenId) returns (address)
  function tokenURI(uint256 tokenId) returns (string)
  function getApproved(uint256 tokenId) returns (address)
  function isApprovedForAll(address owner, address operator) returns (bool)
  function setApprovalForAll(address operator, bool approved)
  function safeTransferFrom(address from, address to, uint256 tokenId)
  function safeTransferFrom(address from, address to, uint256 tokenId, bytes data)
  function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)
  function balanceOf(address account, uint256 id) returns (uint256)
  function onERC721Received(address operator, address from, uint256 tokenId, bytes data) returns (bytes4)
  function onERC1155Received(address operator, address from, uint256 id, uint256 value, bytes data) returns (bytes4)
  function deposit()
  function withdraw(uint256 value)
  function multicall(bytes[] data) returns (bytes[])
  function proxiableUUID() returns (bytes32)
  function implementation() returns (address)
  function upgradeTo(address newImplementation)
  function upgradeToAndCall(address newImplementation, bytes data)
  event Transfer(address indexed from, address indexed to, uint256 value)
  event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)
  event Approval(address indexed owner, address indexed spender, uint256 value)
  event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)
  event ApprovalForAll(address indexed owner, address indexed operator, bool approved)
  event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)
  event OwnershipTransferred(address indexed previousOwner, address indexed newOwner)
  event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender)
  event RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender)
  event Upgraded(address indexed implementation)
  event AdminChanged(address previousAdmin, address newAdmin)
  event Initialized(uint64 version)
  event Paused(address account)
  event Unpaused(address account)
  event Deposit(address indexed dst, uint256 wad)
  event Withdrawal(address indexed src, uint256 wad)
  error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)
  error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)
  error ERC20InvalidReceiver(address receiver)
  error ERC20InvalidSender(address sender)
  error ERC721NonexistentToken(uint256 tokenId)
  error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)
  error ERC721InsufficientApproval(address operator, uint256 tokenId)
  error ERC721InvalidReceiver(address receiver)
  error ERC1155InsufficientBalance(address sender, uint256 balance, uint256 needed, uint256 tokenId)
  error OwnableUnauthorizedAccount(address account)
  error OwnableInvalidOwner(address owner)
  error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)
  error ReentrancyGuardReentrantCall()
  error EnforcedPause()
  error ExpectedPause()
  error InvalidInitialization()
  error NotInitializing()
  error SafeERC20FailedOperation(address token)
  error FailedInnerCall()
  error AddressEmptyCode(address target)`;

/** The lines of `SIGNATURES` as an ABI. */
export function wellKnownItems(): readonly AbiItem[] {
  return SIGNATURES.trim().split("\n").map(parseItem);
}

/** `function name(type name, …) returns (type)` */
function parseItem(line: string): AbiItem {
  const [, type = "", name = "", inputs = "", outputs = ""] =
    /^\s*(\w+) (\w+)\(([^)]*)\)(?: returns \(([^)]*)\))?$/.exec(line) ?? [];
  return { type, name, inputs: parseParameters(inputs), outputs: parseParameters(outputs) };
}

function parseParameters(text: string): readonly AbiParameter[] {
  return text.split(", ").flatMap((part) => {
    const words = part.split(" ");
    const isIndexed = words[1] === "indexed";
    const name = words[isIndexed ? 2 : 1] ?? "";
    return words[0] === "" ? [] : [{ type: words[0]!, name, indexed: isIndexed }];
  });
}
