/* Loaded first, this makes Open MPI 4.1 say that it is a later one. */
const char ompi_version_string[] = "4.2.0rc1";
