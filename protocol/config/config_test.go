package config_test

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/estuary/connectors/protocol"
)

// server is a config with everything that the package knows, shaped like a database connector's.
type server struct {
	Address     string       `json:"address" title:"Address" doc:"Host, or host:port, of the server." alias:"host" example:"db.example.com:5432"`
	Port        uint16       `json:"port,omitempty" title:"Port" doc:"Port, where the address has none." hidden:"true"`
	User        string       `json:"user" title:"User" doc:"Role to log in as." default:"flow_capture"`
	Password    string       `json:"password,omitempty" title:"Password" doc:"Password of the role." secret:"true" hidden:"true"`
	Credentials *credentials `json:"credentials" title:"Authentication" doc:"How to log in." oneof:"auth_type"`
	History     bool         `json:"historyMode" title:"History" doc:"Keep every change event."`
	Advanced    advanced     `json:"advanced" title:"Advanced" doc:"Rarely needed." advanced:"true"`
	Tunnel      *tunnel      `json:"networkTunnel" title:"Tunnel" doc:"Reach the server through SSH."`
	Headers     []header     `json:"headers,omitempty" title:"Headers" doc:"Sent with every request."`
}

type credentials struct {
	UserPassword *userPassword `json:"UserPassword" title:"Password" doc:"By password."`
	AWSIAM       *awsIAM       `json:"AWSIAM" title:"AWS IAM" doc:"By a token of AWS."`
}

type userPassword struct {
	Password string `json:"password" title:"Password" doc:"Password of the role." secret:"true"`
}

type awsIAM struct {
	Region string `json:"aws_region" title:"Region" doc:"Region of the database." pattern:"^[a-z0-9-]+$"`
	Role   string `json:"aws_role_arn,omitempty" title:"Role" doc:"Role to assume." pattern:"^arn:"`
}

type sslMode string

type advanced struct {
	SlotName    string        `json:"slotName" title:"Slot" doc:"Name of the replication slot." default:"flow_slot" pattern:"^[a-z0-9_]{1,63}$" alias:"/slotName"`
	ChunkSize   int           `json:"backfill_chunk_size" title:"Chunk size" doc:"Rows read at once." default:"50000" min:"1" max:"1000000"`
	SSLMode     sslMode       `json:"sslmode,omitempty" title:"SSL mode" doc:"As in libpq." enum:"disable,prefer,require,verify-full"`
	Rediscovery time.Duration `json:"rediscovery_interval" title:"Rediscovery" doc:"How often to look for new tables." default:"15m" min:"1m" max:"8760h"`
	Rate        float64       `json:"rate,omitempty" title:"Rate" doc:"Rows a second; 0: no limit." min:"0"`
	Schemas     []string      `json:"include_schemas,omitempty" title:"Schemas" doc:"Only these schemas." alias:"/old/discover_schemas" pattern:"^[^.]+$"`
	CA          string        `json:"ca,omitempty" title:"CA" doc:"Certificates of the authority, PEM." multiline:"true"`
}

type tunnel struct {
	SSH *forwarding `json:"sshForwarding" title:"SSH" doc:"Forwarding through an SSH server."`
}

type forwarding struct {
	Endpoint   string `json:"sshEndpoint" title:"Endpoint" doc:"As in ssh://user@host." pattern:"^ssh://.+@.+$"`
	PrivateKey string `json:"privateKey" title:"Private key" doc:"PEM." secret:"true" multiline:"true"`
}

type header struct {
	Name  string `json:"name" title:"Name" doc:"Name of the header."`
	Value string `json:"value" title:"Value" doc:"Value of the header." secret:"true"`
}

// Validate joins the older host and port, and refuses two passwords.
func (c *server) Validate() error {
	var problems []error
	if c.Port != 0 {
		c.Address, c.Port = net.JoinHostPort(c.Address, strconv.Itoa(int(c.Port))), 0
	}
	if c.Password != "" && c.Credentials != nil {
		problems = append(problems, &protocol.Problem{Kind: protocol.System, Summary: "password and credentials are both given", Fix: "remove password"})
	}
	if strings.HasSuffix(c.Address, ":6543") {
		problems = append(problems, fmt.Errorf("%s is a pooler; %q cannot log in there", c.Address, c.Password))
	}
	return errors.Join(problems...)
}
