// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Names the accounts that may send transactions and create contracts, for `config.evmint.accountPermissions` of a genesis. Nodes call nothing here:
/// they read the storage of `permissionsOf`, so any contract will do whose first variable is such a mapping. This one has one owner, which may be a
/// contract of several, such as a Safe. In block 0 no constructor runs: the storage of the genesis has the owner and the first accounts.
contract AllowedAccounts {
    event PermissionsChanged(address indexed account, uint256 permissions, string name);
    event OwnerChanged(address indexed owner);

    error NotOwner();
    error UnknownPermissions();
    /// The owner sends the transactions that change this contract.
    error OwnerMustSend();

    uint256 public constant SEND = 1;
    uint256 public constant DEPLOY = 2;

    /// SEND, SEND | DEPLOY, or 0. Slot 0, read by each node in the state before a block. Everybody has what the zero address has.
    mapping(address account => uint256 permissions) public permissionsOf;
    address public owner;

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    constructor(address owner_) {
        permissionsOf[owner_] = SEND | DEPLOY;
        owner = owner_;
        emit OwnerChanged(owner_);
    }

    /// @param name for people, in the event alone
    function set(address account, uint256 permissions, string calldata name) external onlyOwner {
        if (permissions > SEND | DEPLOY) revert UnknownPermissions();
        if (account == owner && permissions & SEND == 0) revert OwnerMustSend();
        permissionsOf[account] = permissions;
        emit PermissionsChanged(account, permissions, name);
    }

    /// An owner that is a contract sends nothing itself: the accounts that call it need SEND.
    function setOwner(address owner_) external onlyOwner {
        permissionsOf[owner_] |= SEND;
        emit PermissionsChanged(owner_, permissionsOf[owner_], "");
        owner = owner_;
        emit OwnerChanged(owner_);
    }

    function maySend(address account) public view returns (bool) {
        return (permissionsOf[account] | permissionsOf[address(0)]) & SEND != 0;
    }

    function mayDeploy(address account) external view returns (bool) {
        return maySend(account) && (permissionsOf[account] | permissionsOf[address(0)]) & DEPLOY != 0;
    }
}
