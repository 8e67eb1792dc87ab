// Command faulty is a whole source in miniature, with which the suites are tried: it is right, unless the variable FAULT names one thing that it does
// wrong. What it captures is a file of changes, one JSON object a line.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func fault(name string) bool { return os.Getenv("FAULT") == name }

type object = map[string]any

type config struct {
	Log      string `json:"log"`
	Password string `json:"password"`
}

const password = "open-sesame"

var flags = map[string]string{}

func main() {
	args := os.Args[1:]
	if len(args) == 0 {
		flow()
		return
	}
	for i := 1; i < len(args); i++ {
		name, value, assigned := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		if !assigned && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			i++
			value = args[i]
		}
		flags[name] = value
		if fault("refuses unknown flags") && name != "config" && name != "catalog" && name != "state" {
			os.Exit(64)
		}
	}
	deaf := fault("deaf to SIGTERM after an answer") && args[0] == "discover"
	if deaf {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	}
	if fault("banner") {
		fmt.Println("faulty 1.0 starts")
	}
	if fault("line without type") {
		say(object{"hello": "world"})
	}
	if fault("much on stderr") {
		fmt.Fprintln(os.Stderr, strings.Repeat("chatter ", 1000))
	}
	switch args[0] {
	case "spec":
		printSpec()
	case "check":
		check()
	case "discover":
		if fault("secret in a log") {
			logLine("connecting with " + loadConfig().Password)
		}
		say(object{"type": "CATALOG", "catalog": object{"streams": offered()}})
	case "read":
		read()
	}
	if deaf {
		time.Sleep(time.Hour)
	}
}

// say prints one line.
func say(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		os.Exit(0)
	}
}

func logLine(text string) {
	say(object{"type": "LOG", "log": object{"level": "INFO", "message": text}})
}

func millis() int64 { return time.Now().UnixMilli() }

func fail(text string) {
	say(object{"type": "TRACE", "trace": object{"type": "ERROR", "emitted_at": millis(), "error": object{"message": text, "failure_type": "config_error"}}})
	if fault("a log line after the error") {
		logLine("bye")
	}
	if fault("exit code 0 after an error") {
		os.Exit(0)
	}
	os.Exit(1)
}

// input reads the file that a flag names.
func input(name string) []byte {
	path := flags[name]
	if path == "" {
		return nil
	}
	if fault("opens its inputs twice") {
		if f, err := os.Open(path); err == nil {
			_, _ = f.Read(make([]byte, 1))
			f.Close()
		}
	}
	if fault("asks for the size of its inputs") {
		info, err := os.Stat(path)
		if err != nil || info.Size() == 0 {
			return nil
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		fail("an input cannot be read: " + name)
	}
	return text
}

func readConfig() (c config, err error) {
	if err = json.Unmarshal(input("config"), &c); err != nil {
		return c, fmt.Errorf("the config is no JSON object")
	}
	return c, c.usable()
}

func (c config) usable() error {
	if c.Password != password && !fault("takes any password") {
		return fmt.Errorf("the password is wrong: set the right one")
	}
	if _, err := os.Stat(c.Log); err != nil {
		return fmt.Errorf("the log is not there: name a file that exists")
	}
	return nil
}

func loadConfig() config {
	c, err := readConfig()
	if err != nil {
		fail(err.Error())
	}
	return c
}

func configSchema() object {
	secret := object{"type": "string", "title": "Password", "airbyte_secret": true, "order": 1}
	if fault("secret not marked") {
		delete(secret, "airbyte_secret")
	}
	if fault("two equal orders") {
		secret["order"] = 0
	}
	return object{
		"type": "object", "required": []string{"log", "password"}, "additionalProperties": !fault("closed spec"),
		"properties": object{"log": object{"type": "string", "title": "Log", "order": 0}, "password": secret},
	}
}

func printSpec() {
	if fault("long preamble") {
		for range 10 {
			logLine("starting")
		}
	}
	spec := object{"type": "SPEC", "spec": object{"protocol_version": "0.18.0", "documentationUrl": "https://example.com", "connectionSpecification": configSchema()}}
	say(spec)
	if fault("two specs") {
		say(spec)
	}
}

func check() {
	status := object{"status": "SUCCEEDED"}
	_, err := readConfig()
	if err != nil {
		status = object{"status": "FAILED", "message": err.Error()}
		if fault("failed without a reason") {
			delete(status, "message")
		}
	}
	say(object{"type": "CONNECTION_STATUS", "connectionStatus": status})
	if err != nil && fault("exit code 1 after FAILED") {
		os.Exit(1)
	}
}
