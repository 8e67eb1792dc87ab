from local_executable import ExecutableSourceTests


class TestSourcePostgres(ExecutableSourceTests):
    pass
