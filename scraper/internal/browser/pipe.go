package browser

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/go-rod/rod/lib/cdp"
)

// maxMessage bounds one message of Chromium's: a page of the largest size, each
// of its letters escaped, with room to spare.
const maxMessage = 64 << 20

// pipe carries the protocol over two of Chromium's file descriptors: no port is
// opened that others on the machine could reach, and Chromium ends by itself
// when our end closes.
type pipe struct {
	mu  sync.Mutex
	to  *os.File
	out *os.File
	in  *bufio.Reader
}

var _ cdp.WebSocketable = (*pipe)(nil)

// Send writes one message. A Chromium that does not take it is lost.
func (p *pipe) Send(data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.to.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	if _, err := p.to.Write(append(data, 0)); err != nil {
		_ = p.to.Close() // half a message must not be followed by another
		return err
	}
	return nil
}

// Read returns the next message. The driver panics on its own goroutine at one
// it does not understand, so that such a message never gets there.
func (p *pipe) Read() ([]byte, error) {
	var message []byte
	for {
		part, err := p.in.ReadSlice(0)
		message = append(message, part...)
		if len(message) > maxMessage {
			return nil, errors.New("a message of the browser is too large")
		}
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
	message = message[:len(message)-1]
	var known struct {
		cdp.Response
		SessionID string          `json:"sessionId"`
		Method    string          `json:"method"`
		Params    json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(message, &known); err != nil {
		return nil, fmt.Errorf("a message of the browser cannot be read: %w", err)
	}
	return message, nil
}

func (p *pipe) close() {
	_ = p.to.Close()
	_ = p.out.Close()
}
