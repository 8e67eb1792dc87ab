package main

import "strings"

// cloud is who runs the server, as far as its host name tells; the cures differ.
type cloud int

const (
	unknownCloud cloud = iota
	amazon             // RDS and Aurora
	azure
	google
)

// cloudOf reads it off an address. Cloud SQL's addresses are plain numbers, so that google is seldom recognised.
func cloudOf(address string) cloud {
	host, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(address)), ":")
	switch {
	case strings.HasSuffix(host, ".rds.amazonaws.com"), strings.HasSuffix(host, ".rds.amazonaws.com.cn"):
		return amazon
	case strings.HasSuffix(host, ".postgres.database.azure.com"), strings.HasSuffix(host, ".postgres.cosmos.azure.com"):
		return azure
	case strings.HasSuffix(host, ".sql.goog"), strings.HasSuffix(host, ".alloydb.goog"):
		return google
	}
	return unknownCloud
}

// walLevelFix says how wal_level becomes logical there. Every one of them needs a restart.
func (p cloud) walLevelFix() string {
	switch p {
	case amazon:
		return "set rds.logical_replication = 1 in the instance's parameter group (Aurora: the cluster's), then reboot it"
	case azure:
		return "set the server parameter wal_level to LOGICAL in the portal, then restart the server"
	case google:
		return "set the flag cloudsql.logical_decoding (AlloyDB: alloydb.logical_decoding) to on, which restarts the instance"
	case unknownCloud:
	}
	return "set it to logical, then restart the server (Amazon: rds.logical_replication = 1 in the parameter group; Cloud SQL: the flag cloudsql.logical_decoding)"
}

// replicationFix says how a role becomes able to replicate there.
func (p cloud) replicationFix(role string) (fix, sql string) {
	switch p {
	case amazon:
		return "make it a member of rds_replication", "GRANT rds_replication TO " + quote(role) + ";"
	case unknownCloud, azure, google:
	}
	return "give it the REPLICATION attribute (Amazon: GRANT rds_replication)", "ALTER ROLE " + quote(role) + " REPLICATION;"
}
