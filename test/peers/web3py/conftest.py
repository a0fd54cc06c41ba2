"""What web3.py's tests of a node ask for: accounts, contracts and blocks, made on the node at NODE_URL."""
import os

import pytest
import pytest_asyncio
from eth_account import Account
from web3 import AsyncHTTPProvider, AsyncWeb3, HTTPProvider, Web3
from web3._utils.contract_sources.contract_data.emitter_contract import EMITTER_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.math_contract import MATH_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.offchain_lookup import OFFCHAIN_LOOKUP_DATA
from web3._utils.contract_sources.contract_data.panic_errors_contract import PANIC_ERRORS_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.revert_contract import REVERT_CONTRACT_DATA
from web3._utils.contract_sources.contract_data.storage_contract import STORAGE_CONTRACT_DATA
from web3._utils.module_testing.utils import RequestMocker

URL = os.environ["NODE_URL"]
KEY = os.environ["NODE_KEY"]


@pytest.fixture(scope="session")
def w3():
    return Web3(HTTPProvider(URL, request_kwargs={"timeout": 30}))


@pytest_asyncio.fixture
async def async_w3():
    made = AsyncWeb3(AsyncHTTPProvider(URL))
    yield made
    await made.provider.disconnect()


@pytest.fixture(scope="session")
def keyfile_account_pkey():
    return KEY


@pytest.fixture(scope="session")
def keyfile_account_address():
    return Account.from_key(KEY).address


@pytest.fixture
def async_keyfile_account_address(keyfile_account_address):
    return keyfile_account_address


@pytest.fixture(params=["text", "bytes"])
def keyfile_account_address_dual_type(keyfile_account_address, request):
    return keyfile_account_address if request.param == "text" else Web3.to_bytes(hexstr=keyfile_account_address)


@pytest.fixture
def async_keyfile_account_address_dual_type(keyfile_account_address):
    return keyfile_account_address


def deploy(w3, data, *arguments):
    contract = w3.eth.contract(abi=data["abi"], bytecode=data["bytecode"])
    sender = Account.from_key(KEY).address
    sent = contract.constructor(*arguments).transact({"from": sender, "gas": 10_000_000})
    receipt = w3.eth.wait_for_transaction_receipt(sent)
    assert receipt["status"] == 1
    return receipt


DATA = {
    "math": MATH_CONTRACT_DATA,
    "emitter": EMITTER_CONTRACT_DATA,
    "revert": REVERT_CONTRACT_DATA,
    "storage": STORAGE_CONTRACT_DATA,
    "offchain_lookup": OFFCHAIN_LOOKUP_DATA,
    "panic_errors": PANIC_ERRORS_CONTRACT_DATA,
}


@pytest.fixture(scope="session")
def deployed(w3):
    return {name: deploy(w3, data) for name, data in DATA.items()}


def contract_fixtures(name):
    @pytest.fixture
    def own(w3, deployed):
        return w3.eth.contract(address=deployed[name]["contractAddress"], abi=DATA[name]["abi"])

    @pytest.fixture
    def asynchronous(async_w3, deployed):
        return async_w3.eth.contract(address=deployed[name]["contractAddress"], abi=DATA[name]["abi"])

    @pytest.fixture
    def address(deployed):
        return deployed[name]["contractAddress"]

    return own, asynchronous, address


for _name in DATA:
    _own, _async, _address = contract_fixtures(_name)
    globals()[f"{_name}_contract"] = _own
    globals()[f"async_{_name}_contract"] = _async
    globals()[f"{_name}_contract_address"] = _address
    globals()[f"async_{_name}_contract_address"] = _address


@pytest.fixture(scope="session")
def math_contract_deploy_txn_hash(deployed):
    return deployed["math"]["transactionHash"]


# The first test needs a block that paid its fee recipient.
@pytest.fixture(scope="session", autouse=True)
def mined(w3):
    sender = Account.from_key(KEY).address
    sent = w3.eth.send_transaction({"from": sender, "to": sender, "value": 1, "gas": 21_000, "gasPrice": 10**10})
    return w3.eth.wait_for_transaction_receipt(sent)


@pytest.fixture(scope="session")
def mined_txn_hash(mined):
    return mined["transactionHash"]


@pytest.fixture(scope="session")
def block_with_txn(w3, mined):
    return w3.eth.get_block(mined["blockNumber"])


# Before tests that leave transactions behind: theirs has to be alone in its block.
@pytest.fixture(scope="session", autouse=True)
def logged(w3, deployed):
    emitter = w3.eth.contract(address=deployed["emitter"]["contractAddress"], abi=EMITTER_CONTRACT_DATA["abi"])
    sent = emitter.functions.logDouble(which=9, arg0=12345, arg1=54321).transact(
        {"from": Account.from_key(KEY).address, "gas": 200_000}
    )
    return w3.eth.wait_for_transaction_receipt(sent)


@pytest.fixture(scope="session")
def txn_hash_with_log(logged):
    return logged["transactionHash"]


@pytest.fixture(scope="session")
def block_with_txn_with_log(w3, logged):
    return w3.eth.get_block(logged["blockNumber"])


@pytest.fixture(scope="session")
def empty_block(w3):
    w3.provider.make_request("evm_mine", [])
    return w3.eth.get_block("latest")


@pytest.fixture
def async_block_with_txn(block_with_txn):
    return block_with_txn


@pytest.fixture
def async_block_with_txn_with_log(block_with_txn_with_log):
    return block_with_txn_with_log


@pytest.fixture
def async_empty_block(empty_block):
    return empty_block


@pytest.fixture
def skip_if_testrpc():
    return lambda w3: None


@pytest.fixture
def async_skip_if_testrpc():
    return lambda w3: None


@pytest.fixture
def request_mocker():
    return RequestMocker
