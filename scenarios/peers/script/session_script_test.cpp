#include "scenarios/peers/script/session_script.h"

#include <gtest/gtest.h>
