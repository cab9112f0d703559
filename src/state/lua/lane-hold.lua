--[[ lane-hold: this event is dead and stays at the head of its lane, so that its followers wait for a person.
  Atomic because: a run that lost its job to another must not declare the event dead while that other still runs it.
  KEYS 1 lanes · 2 pending · 3 holders · 4 revived
  ARGV 1 workspace · 2 lane · 3 place · 4 event id · 5 holder · 6 "1" if revived else "0"
  RETURN "held" | "taken-over"    Cost O(log pending). Never calls TIME. ]]
local SEP = '\31'
local workspace, lane, place, id, holder = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if ARGV[6] == '1' then place = redis.call('HGET', KEYS[4], id) or place end

local inLane = redis.call('ZSCORE', KEYS[1], lane .. SEP .. place .. SEP .. id)
local held = redis.call('HGET', KEYS[3], lane)
if inLane and held ~= holder then return 'taken-over' end
redis.call('ZREM', KEYS[2], workspace .. SEP .. place)
if held == holder then redis.call('HDEL', KEYS[3], lane) end
return 'held'
