#!/bin/sh
# The library is new, or gone.
/sbin/ldconfig
