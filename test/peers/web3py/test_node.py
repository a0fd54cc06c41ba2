"""The tests that web3.py has for every node, out of its package."""
from web3._utils.module_testing import (
    AsyncEthModuleTest,
    AsyncNetModuleTest,
    EthModuleTest,
    GoEthereumAsyncDebugModuleTest,
    GoEthereumAsyncTxPoolModuleTest,
    GoEthereumDebugModuleTest,
    GoEthereumTxPoolModuleTest,
    NetModuleTest,
    Web3ModuleTest,
)
from web3._utils.module_testing.web3_module import AsyncWeb3ModuleTest


class TestEth(EthModuleTest):
    pass


class TestAsyncEth(AsyncEthModuleTest):
    pass


class TestNet(NetModuleTest):
    pass


class TestAsyncNet(AsyncNetModuleTest):
    pass


class TestWeb3(Web3ModuleTest):
    def _check_web3_client_version(self, client_version):
        assert client_version.startswith("anvil/")


class TestAsyncWeb3(AsyncWeb3ModuleTest):
    def _check_web3_client_version(self, client_version):
        assert client_version.startswith("anvil/")


class TestDebug(GoEthereumDebugModuleTest):
    pass


class TestAsyncDebug(GoEthereumAsyncDebugModuleTest):
    pass


class TestTxPool(GoEthereumTxPoolModuleTest):
    pass


class TestAsyncTxPool(GoEthereumAsyncTxPoolModuleTest):
    pass
