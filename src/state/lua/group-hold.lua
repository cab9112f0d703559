--[[ group-hold: an event has become a dead letter and stays at the head of its ordering group, so that its followers wait until a
  person retries or drops it.
  Atomic because: a run that lost its job must not declare the event dead while the run that took over handles it.
  KEYS 1 groups · 2 pending · 3 holders · 4 positions
  ARGV 1 workspace · 2 group · 3 position · 4 job id · 5 holder · 6 origin of the position: "log" | "retried" | "backfill"
  RETURN "held" | "taken-over"    Cost O(log pending). Never calls TIME. ]]
local SEP = '\31'
local workspace, group, position, id, holder = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if ARGV[6] ~= 'log' then position = redis.call('HGET', KEYS[4], id) or position end

local isMember = redis.call('ZSCORE', KEYS[1], group .. SEP .. position .. SEP .. id)
local held = redis.call('HGET', KEYS[3], group)
if isMember and held ~= holder then return 'taken-over' end
redis.call('ZREM', KEYS[2], workspace .. SEP .. position)
if held == holder then redis.call('HDEL', KEYS[3], group) end
return 'held'
