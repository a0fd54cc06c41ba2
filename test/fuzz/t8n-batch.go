// Command t8n-batch is go-ethereum's `evm t8n` for many blocks in one process: it answers each line {fork, alloc, env, txs} of
// stdin by a line {result, body} or {error}, where txs is the RLP list of signed transactions. It uses an internal package, so it
// is built inside a copy of the module:
//
//	cp -r $(go list -m -f '{{.Dir}}' github.com/ethereum/go-ethereum@v1.17.10) geth && chmod -R u+w geth
//	mkdir geth/cmd/evm/batch && cp t8n-batch.go geth/cmd/evm/batch/
//	(cd geth && go build -o ../t8n-batch ./cmd/evm/batch)
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log"
	"os"

	"github.com/ethereum/go-ethereum/cmd/evm/internal/t8ntool"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/tests"
)

type question struct {
	Fork  string             `json:"fork"`
	Alloc types.GenesisAlloc `json:"alloc"`
	Env   json.RawMessage    `json:"env"`
	Txs   hexutil.Bytes      `json:"txs"`
}

type answer struct {
	Result *t8ntool.ExecutionResult `json:"result,omitempty"`
	Body   hexutil.Bytes            `json:"body,omitempty"`
	Error  string                   `json:"error,omitempty"`
}

// transactions decodes one transaction of the list after the other.
type transactions struct{ stream *rlp.Stream }

func (t transactions) Next() bool { return t.stream.MoreDataInList() }

func (t transactions) Tx() (*types.Transaction, error) {
	tx := new(types.Transaction)
	if err := t.stream.Decode(tx); err != nil {
		return nil, err
	}
	return tx, nil
}

// noReward is the value of `--state.reward` that pays nobody.
const noReward = -1

func apply(line []byte) (*t8ntool.ExecutionResult, []byte, error) {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, nil, err
	}
	config, eips, err := tests.GetChainConfig(q.Fork)
	if err != nil {
		return nil, nil, err
	}
	pre := t8ntool.Prestate{Pre: q.Alloc}
	if err := json.Unmarshal(q.Env, &pre.Env); err != nil {
		return nil, nil, err
	}
	stream := rlp.NewStream(bytes.NewReader(q.Txs), uint64(len(q.Txs)))
	if _, err := stream.List(); err != nil {
		return nil, nil, err
	}
	_, result, body, err := pre.Apply(vm.Config{ExtraEips: eips}, config, transactions{stream}, noReward)
	return result, body, err
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var a answer
		if a.Result, a.Body, err = apply(line); err != nil {
			a = answer{Error: err.Error()}
		}
		if err := out.Encode(a); err != nil {
			log.Fatal(err)
		}
	}
}
