// A peer that puts hostile texts into everything that CometBFT's log quotes of a peer: each member of its node info, and a message after the
// handshake. It connects to loopback only.
//
//	hostile-peer ADDRESS NETWORK COUNT CONNECTIONS SECONDS < texts.json
//
// It prints {"handshakes": …, "accepted": …, "failed": …, "seconds": …}: node infos sent, connections that the node kept, and connections that ended before.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cometbft/cometbft/crypto/ed25519"
	"github.com/cometbft/cometbft/libs/protoio"
	"github.com/cometbft/cometbft/p2p"
	"github.com/cometbft/cometbft/p2p/conn"
	tmp2p "github.com/cometbft/cometbft/proto/tendermint/p2p"
	"github.com/cometbft/cometbft/version"
)

// A node that does not answer in this time has no place for the connection.
const timeout = 5 * time.Second

var (
	handshakes, accepted, failed atomic.Int64
	// The channel of consensus messages, which every node has.
	channels = []byte{0x20}
)

// The members of a node info, and the message, that a text goes to in turn.
var places = []func(info *tmp2p.DefaultNodeInfo, text string) (message string){
	func(info *tmp2p.DefaultNodeInfo, text string) string { info.Network = text; return "" },
	func(info *tmp2p.DefaultNodeInfo, text string) string { info.Moniker = text; return "" },
	func(info *tmp2p.DefaultNodeInfo, text string) string { info.Version = text; return "" },
	func(info *tmp2p.DefaultNodeInfo, text string) string { info.ListenAddr = text; return "" },
	func(info *tmp2p.DefaultNodeInfo, text string) string { info.Other.TxIndex = text; return "" },
	func(info *tmp2p.DefaultNodeInfo, text string) string { info.Other.RPCAddress = text; return "" },
	func(info *tmp2p.DefaultNodeInfo, text string) string { return text },
}

func main() {
	address, network := os.Args[1], os.Args[2]
	count, connections, seconds := number(3), number(4), number(5)
	if host, _, err := net.SplitHostPort(address); err != nil || !net.ParseIP(host).IsLoopback() {
		fmt.Fprintln(os.Stderr, "only loopback is attacked")
		os.Exit(2)
	}
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		panic(err)
	}
	start := time.Now()
	until := start.Add(time.Duration(seconds) * time.Second)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range connections {
		workers.Go(func() {
			for {
				turn := int(next.Add(1)) - 1
				if turn >= count || time.Now().After(until) {
					return
				}
				// Most go to the network, which is logged before anything else is looked at.
				place := places[0]
				if turn%3 == 2 {
					place = places[turn/3%len(places)]
				}
				if err := attack(address, network, texts[turn%len(texts)], place); err != nil {
					failed.Add(1)
				}
			}
		})
	}
	workers.Wait()
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"handshakes": handshakes.Load(),
		"accepted":   accepted.Load(),
		"failed":     failed.Load(),
		"seconds":    time.Since(start).Seconds(),
	})
}

func attack(address, network, text string, place func(*tmp2p.DefaultNodeInfo, string) string) error {
	socket, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return err
	}
	defer socket.Close()
	if err := socket.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	key := ed25519.GenPrivKey()
	secret, err := conn.MakeSecretConnection(socket, key)
	if err != nil {
		return err
	}
	info := &tmp2p.DefaultNodeInfo{
		ProtocolVersion: tmp2p.ProtocolVersion{P2P: version.P2PProtocol, Block: version.BlockProtocol},
		DefaultNodeID:   string(p2p.PubKeyToID(key.PubKey())),
		ListenAddr:      "tcp://127.0.0.1:1",
		Network:         network,
		Version:         "0.39.0",
		Channels:        channels,
		Moniker:         "peer",
		Other:           tmp2p.DefaultNodeInfoOther{TxIndex: "off", RPCAddress: "x"},
	}
	message := place(info, text)
	if _, err := protoio.NewDelimitedWriter(secret).WriteMsg(info); err != nil {
		return err
	}
	handshakes.Add(1)
	var theirs tmp2p.DefaultNodeInfo
	if _, err := protoio.NewDelimitedReader(secret, p2p.MaxNodeInfoSize()).ReadMsg(&theirs); err != nil {
		return err
	}
	if message != "" {
		packet := &tmp2p.Packet{Sum: &tmp2p.Packet_PacketMsg{PacketMsg: &tmp2p.PacketMsg{
			ChannelID: int32(channels[0]), EOF: true, Data: []byte(clip(message, 1000)),
		}}}
		if _, err := protoio.NewDelimitedWriter(secret).WriteMsg(packet); err != nil {
			return err
		}
	}
	// The node ends a connection that it rejects; one that it keeps says something, or nothing.
	if err := socket.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		return err
	}
	if _, err := secret.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		accepted.Add(1)
	}
	return nil
}

func clip(text string, length int) string {
	return text[:min(len(text), length)]
}

func number(argument int) int {
	value, err := strconv.Atoi(os.Args[argument])
	if err != nil {
		panic(err)
	}
	return value
}
