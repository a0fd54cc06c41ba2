// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

contract Art {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    string public constant name = "Paintings";
    string public constant symbol = "ART";
    mapping(address => uint256) public balanceOf;
    function supportsInterface(bytes4 id) external pure returns (bool) { return id == 0x80ac58cd; }
    constructor(address other) {
        balanceOf[msg.sender] = 1;
        balanceOf[other] = 1;
        emit Transfer(address(0), msg.sender, 1);
        emit Transfer(address(0), msg.sender, 2);
        emit Transfer(msg.sender, other, 2);
    }
}

contract Items {
    event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value);
    event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values);
    function supportsInterface(bytes4 id) external pure returns (bool) { return id == 0xd9b67a26; }
    constructor(address other) {
        uint256[] memory ids = new uint256[](2);
        uint256[] memory values = new uint256[](2);
        (ids[0], ids[1], values[0], values[1]) = (5, 6, 10, 20);
        emit TransferBatch(msg.sender, address(0), msg.sender, ids, values);
        emit TransferSingle(msg.sender, msg.sender, other, 6, 3);
    }
}
