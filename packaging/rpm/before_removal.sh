#!/bin/sh
# Python leaves compiled copies beside modules that root imported; rpm does not know them.
rm -rf /usr/lib64/millrace/python/millrace/__pycache__
