// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Names the nodes that may connect to each other, for `cometbft.allowed-nodes-contract`. Any contract with `connectionAllowed` will do; this one has
/// one owner, which may be a contract of several, such as a Safe.
contract AllowedNodes {
    event NodeAllowed(bytes20 indexed id, string name);
    event NodeRemoved(bytes20 indexed id);
    event OwnerChanged(address indexed owner);

    error NotOwner();

    /// Asked by each node before it connects to the node `id`. Must return in 100,000 gas.
    mapping(bytes20 id => bool) public connectionAllowed;
    address public owner;

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    constructor(address owner_, bytes20[] memory ids) {
        owner = owner_;
        emit OwnerChanged(owner_);
        for (uint256 i = 0; i < ids.length; i++) {
            connectionAllowed[ids[i]] = true;
            emit NodeAllowed(ids[i], "");
        }
    }

    /// @param name for people, in the event alone
    function allow(bytes20 id, string calldata name) external onlyOwner {
        connectionAllowed[id] = true;
        emit NodeAllowed(id, name);
    }

    function remove(bytes20 id) external onlyOwner {
        delete connectionAllowed[id];
        emit NodeRemoved(id);
    }

    function setOwner(address owner_) external onlyOwner {
        owner = owner_;
        emit OwnerChanged(owner_);
    }
}
